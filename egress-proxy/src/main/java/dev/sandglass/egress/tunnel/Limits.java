package dev.sandglass.egress.tunnel;

import java.time.Duration;

/**
 * How much and how long. Per sandbox means per sandbox and replica.
 *
 * @param head until the head of a request is whole
 * @param lookup until DNS has answered
 * @param connect until a server has accepted, all its addresses together
 * @param hello until a TLS client has said whom it asks for
 * @param idle without a byte in either direction
 * @param tunnels open at a time per sandbox
 * @param newTunnels begun within a second per sandbox
 * @param connections open at a time, of all sandboxes
 * @param bytes that pass in both directions per sandbox, until the sandbox or the proxy ends; 0 for any number
 * @param backlog bytes of all tunnels that one side has said and the other has not taken, before those end whose readers
 *     stand still
 */
public record Limits(
        Duration head,
        Duration lookup,
        Duration connect,
        Duration hello,
        Duration idle,
        int tunnels,
        int newTunnels,
        int connections,
        long bytes,
        long backlog) {

    /** Half of the memory for buffers that the image gives the process. */
    public static final long BACKLOG = 64L << 20;

    private static final int BURST = 4;

    /** If the installation says nothing else. */
    public static final Limits DEFAULT = new Limits(
            Duration.ofSeconds(10),
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            Duration.ofSeconds(5),
            Duration.ofMinutes(5),
            64,
            32,
            20_000,
            0,
            BACKLOG);

    /**
     * Takes limits.
     *
     * @throws IllegalArgumentException if one is not positive
     */
    public Limits {
        for (Duration duration : new Duration[] {head, lookup, connect, hello, idle}) {
            if (duration.compareTo(Duration.ofMillis(1)) < 0) {
                throw new IllegalArgumentException("a limit in time must be a millisecond or more, not " + duration);
            }
        }
        if (tunnels < 1 || newTunnels < 1 || connections < 1 || bytes < 0 || backlog < 1) {
            throw new IllegalArgumentException("limits must be 1 or more, that of bytes 0 or more");
        }
    }

    /** Connections of one source, those included whose head is not whole yet. */
    public int connectionsOfASource() {
        return 2 * tunnels;
    }

    /** Connections of one source within a second: enough for a word on each that is one too many, and no flood of words. */
    public int newConnectionsOfASource() {
        return BURST * newTunnels;
    }
}
