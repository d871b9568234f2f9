/** The first message of a TLS connection, as far as it names its target. Pure; knows no sockets. */
@NullMarked
package dev.sandglass.egress.tls;

import org.jspecify.annotations.NullMarked;
