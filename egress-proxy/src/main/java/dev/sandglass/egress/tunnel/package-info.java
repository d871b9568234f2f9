/**
 * One request of a sandbox from its verdict to the last byte: both directions, how much may wait, how it ends, and the
 * proxy's own answers.
 */
@NullMarked
package dev.sandglass.egress.tunnel;

import org.jspecify.annotations.NullMarked;
