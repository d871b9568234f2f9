package dev.sandglass.gateway.mcp;

import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Bounds of the endpoint.
 *
 * @param maxBodyBytes of a request; code of 1 MiB can take six times as much in JSON
 * @param maxBytesPerCaller of the bodies of one caller's requests under way, on one replica, with 12 KiB for each request:
 *     three of the largest, or 2,000 small ones, so that no caller shuts out the others
 * @param maxBytes of the bodies of all requests under way, on one replica; read as JSON, text takes twice that at most, and
 *     the image gives the process some 300 MiB of heap
 * @param keepAlive a quiet stream of events gets a comment so often
 */
public record McpSettings(
        @DefaultValue("8388608") int maxBodyBytes,
        @DefaultValue("25165824") long maxBytesPerCaller,
        @DefaultValue("67108864") long maxBytes,
        @DefaultValue("10s") Duration keepAlive) {

    /** Refuses bounds by which the largest body never found room. */
    public McpSettings {
        if (maxBodyBytes < 1 || maxBytesPerCaller < maxBodyBytes || maxBytes < maxBytesPerCaller) {
            throw new IllegalArgumentException("gateway.mcp.max-bytes-per-caller must be max-body-bytes or more, and"
                    + " gateway.mcp.max-bytes as much as that or more");
        }
    }
}
