/** Reports refused targets: to the gateway by a stream, to users by Events. */
@NullMarked
package dev.sandglass.egress.denial;

import org.jspecify.annotations.NullMarked;
