package dev.sandglass.gateway.mcp;

import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Bounds of the endpoint.
 *
 * @param maxBodyBytes of a request; code of 1 MiB can take six times as much in JSON
 * @param keepAlive a quiet stream of events gets a comment so often
 */
public record McpSettings(
        @DefaultValue("8388608") int maxBodyBytes,
        @DefaultValue("10s") Duration keepAlive) {}
