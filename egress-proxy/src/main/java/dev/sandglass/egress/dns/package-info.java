/** Questions and answers of DNS, as far as a server needs them that knows but one address. Pure; knows no sockets. */
@NullMarked
package dev.sandglass.egress.dns;

import org.jspecify.annotations.NullMarked;
