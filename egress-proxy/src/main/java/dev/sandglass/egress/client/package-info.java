/** Which sandbox a connection comes from, and what it may reach. */
@NullMarked
package dev.sandglass.egress.client;

import org.jspecify.annotations.NullMarked;
