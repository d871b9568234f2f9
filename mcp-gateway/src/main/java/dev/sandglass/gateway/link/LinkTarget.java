package dev.sandglass.gateway.link;

import java.net.InetAddress;
import java.net.InetSocketAddress;

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
        InetAddress.ofLiteral(host);
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("Not a port: " + port);
        }
    }

    /** Where to connect to. */
    InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }
}
