/** Servers in sandboxes, reached over the gateway. */
@NullMarked
package dev.sandglass.e2e.ports;

import org.jspecify.annotations.NullMarked;
