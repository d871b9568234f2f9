package dev.sandglass.gateway.link;

import dev.sandglass.gateway.sandbox.SeatId;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * Where a supervisor listens, and what its keys are derived from.
 *
 * @param sandboxUid UID of the resource
 * @param incarnation number of the pod, from 1
 * @param seat which seat the pod was before the sandbox claimed it; empty if it was made for the sandbox
 * @param host IP address
 * @param port TCP port
 */
public record LinkTarget(String sandboxUid, int incarnation, Optional<SeatId> seat, String host, int port) {

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

    /** One in a pod that was made for the sandbox. */
    public LinkTarget(String sandboxUid, int incarnation, String host, int port) {
        this(sandboxUid, incarnation, Optional.empty(), host, port);
    }

    /** The UID that the supervisor was started with: the seat's id if it is in a seat. */
    String startedUid() {
        return seat.map(SeatId::value).orElse(sandboxUid);
    }

    /** The incarnation that the supervisor was started with: 0 if it is in a seat. */
    int startedIncarnation() {
        return seat.isPresent() ? 0 : incarnation;
    }

    /** Where to connect to. */
    InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }
}
