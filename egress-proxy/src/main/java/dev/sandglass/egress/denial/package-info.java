/** Refused targets, told to those whom they concern: the gateway by a stream, people by Events. */
@NullMarked
package dev.sandglass.egress.denial;

import org.jspecify.annotations.NullMarked;
