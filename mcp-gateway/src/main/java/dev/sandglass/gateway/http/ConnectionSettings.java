package dev.sandglass.gateway.http;

import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Bounds of the connections to a replica's port.
 *
 * @param headTimeout until the head of a request is whole: of the first one from the connection on, of the others from their
 *     first byte on; no client needs seconds for some hundred bytes
 * @param maxStrangers connections on which no valid key or link has been shown yet; callers show theirs with the first
 *     request, so that few of them are strangers at a time
 * @param maxConnections of all; each takes some ten KiB, and a descriptor
 */
public record ConnectionSettings(
        @DefaultValue("10s") Duration headTimeout,
        @DefaultValue("512") int maxStrangers,
        @DefaultValue("4096") int maxConnections) {

    /** Refuses bounds by which nobody came in. */
    public ConnectionSettings {
        if (!headTimeout.isPositive() || maxStrangers < 1 || maxConnections < maxStrangers) {
            throw new IllegalArgumentException(
                    "gateway.connections.head-timeout must be longer than nothing,"
                            + " gateway.connections.max-strangers 1 or more, and gateway.connections.max-connections as many or more");
        }
    }
}
