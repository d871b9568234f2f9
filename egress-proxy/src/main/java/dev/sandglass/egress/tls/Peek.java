package dev.sandglass.egress.tls;

import dev.sandglass.api.egress.HostName;

/** What the first bytes of a connection tell. */
public sealed interface Peek {

    /**
     * Too few of them yet.
     *
     * @param needed how many there must be for another look to tell more
     */
    record More(int needed) implements Peek {}

    /** A TLS client that asks for a server of that name. */
    record Named(HostName name) implements Peek {}

    /**
     * Not TLS, or not a TLS client that says plainly for whom it asks.
     *
     * @param why in words
     */
    record Refused(String why) implements Peek {}
}
