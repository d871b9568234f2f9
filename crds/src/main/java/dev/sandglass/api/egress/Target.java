package dev.sandglass.api.egress;

import java.util.OptionalInt;

/**
 * Where a sandbox wants to go: host and port, in canonical form. Verdict, lookup and connection all use this one object,
 * so that none of them can read the request differently.
 *
 * @param host the host
 * @param port from 1 to 65535
 */
public record Target(Host host, int port) {

    /** Highest port. */
    public static final int MAX_PORT = 65_535;

    /** Longest text: a name with its dot at the end, a colon and a port. */
    public static final int MAX_LENGTH = HostName.MAX_LENGTH + 1 + 6;

    /**
     * Reads {@code host:port}. Nothing but host and port is understood: no user, no percent sign, no path.
     *
     * @param otherwise the port if the text has none; empty if it must have one
     * @throws IllegalArgumentException saying how a target is written
     */
    public static Target parse(String text, OptionalInt otherwise) {
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(Texts.shown(text) + " is longer than a host and a port can be");
        }
        // Behind a bracket, so that the colons of an IPv6 address are none of ours.
        int colon = text.indexOf(':', Math.max(0, text.lastIndexOf(']')));
        if (colon < 0) {
            return new Target(
                    Host.parse(text),
                    otherwise.orElseThrow(() -> new IllegalArgumentException(Texts.shown(text) + " has no port")));
        }
        return new Target(Host.parse(text.substring(0, colon)), port(text.substring(colon + 1)));
    }

    /**
     * Reads a port.
     *
     * @throws IllegalArgumentException if it is not a decimal number from 1 to 65535 without leading zeros
     */
    static int port(String text) {
        int port = Texts.number(text, MAX_PORT);
        if (port < 1) {
            throw new IllegalArgumentException(
                    Texts.shown(text) + " is not a port: a number from 1 to " + MAX_PORT + " without leading zeros");
        }
        return port;
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
