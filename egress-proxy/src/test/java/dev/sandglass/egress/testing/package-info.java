/** What several tests use. */
@NullMarked
package dev.sandglass.egress.testing;

import org.jspecify.annotations.NullMarked;
