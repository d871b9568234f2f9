/** The first message of a TLS connection, as far as it tells whom it is for. Pure; knows no sockets. */
@NullMarked
package dev.sandglass.egress.tls;

import org.jspecify.annotations.NullMarked;
