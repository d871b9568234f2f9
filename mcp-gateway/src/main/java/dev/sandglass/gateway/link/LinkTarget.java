package dev.sandglass.gateway.link;

/**
 * Where a supervisor listens, and what its keys are derived from.
 *
 * @param sandboxUid UID of the resource
 * @param incarnation number of the pod, from 1
 * @param host IP address
 * @param port TCP port
 */
public record LinkTarget(String sandboxUid, int incarnation, String host, int port) {

    private static final int MAX_PORT = 65535;

    /** Refuses what no supervisor can have, with {@link IllegalArgumentException}. */
    public LinkTarget {
        if (sandboxUid.isEmpty() || sandboxUid.indexOf('|') >= 0) {
            throw new IllegalArgumentException("Not a UID: '" + sandboxUid + "'");
        }
        if (incarnation < 1) {
            throw new IllegalArgumentException("Incarnations count from 1, not " + incarnation);
        }
        if (host.isEmpty() || port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("Not an address: '" + host + "' port " + port);
        }
    }

    /** The address as ZeroMQ takes it. */
    String endpoint() {
        return "tcp://" + (isIpv6() ? "[" + host + "]" : host) + ":" + port;
    }

    boolean isIpv6() {
        return host.indexOf(':') >= 0;
    }
}
