package dev.sandglass.gateway.websocket;

import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Bounds of WebSockets to sandboxes' ports. A frame is passed on as a whole, so that it is held from its first byte until the
 * other side has taken it.
 *
 * @param maxFrameBytes of a frame's content; notebooks and dashboards send some MiB in one
 * @param maxBytesPerSandbox of frames under way, both directions together, on one replica: a reader that is slow is two of
 *     the largest frames behind, and something must be left for the sandbox's other sockets
 * @param maxBytesPerTenant of frames under way to and from all of its sandboxes, on one replica: the rest is for other tenants
 * @param maxBytes of frames under way to and from all sandboxes, on one replica: a frame that is gathered may take twice its
 *     size, and the image gives the process 128 MiB for buffers
 * @param frameTimeout from the first byte of a frame that is awaited to its last
 */
public record SocketSettings(
        @DefaultValue("4194304") int maxFrameBytes,
        @DefaultValue("16777216") long maxBytesPerSandbox,
        @DefaultValue("25165824") long maxBytesPerTenant,
        @DefaultValue("41943040") long maxBytes,
        @DefaultValue("30s") Duration frameTimeout) {

    /** Refuses bounds by which no frame, or no second one, could pass. */
    public SocketSettings {
        if (maxFrameBytes < 1
                || maxBytesPerSandbox < 2L * maxFrameBytes
                || maxBytesPerTenant < maxBytesPerSandbox
                || maxBytes < maxBytesPerTenant) {
            throw new IllegalArgumentException(
                    "gateway.port.sockets: max-bytes-per-sandbox must be twice max-frame-bytes or more,"
                            + " max-bytes-per-tenant as much as that or more, and max-bytes as much as that or more");
        }
        if (!frameTimeout.isPositive()) {
            throw new IllegalArgumentException("gateway.port.sockets.frame-timeout must be longer than nothing");
        }
    }
}
