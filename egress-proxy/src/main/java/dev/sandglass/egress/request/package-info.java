/** What a client asks for, read from its bytes strictly. Pure; knows no sockets. */
@NullMarked
package dev.sandglass.egress.request;

import org.jspecify.annotations.NullMarked;
