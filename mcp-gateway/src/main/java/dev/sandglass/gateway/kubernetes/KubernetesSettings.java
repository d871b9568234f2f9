package dev.sandglass.gateway.kubernetes;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Duration;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the gateway uses the API server.
 *
 * @param idleTimeout after which the operator suspends an unused sandbox that has no {@code idleTimeout} of its own; the
 *     activity lease is written at most every quarter of it
 * @param troubleGrace how long a start waits for a trouble to pass that may pass (no node has room, image not pulled)
 * @param requestTimeout of one request to the API server
 */
public record KubernetesSettings(
        @DefaultValue("30m") Duration idleTimeout,
        @DefaultValue("5s") Duration troubleGrace,
        @DefaultValue("5s") Duration requestTimeout) {

    /**
     * A client's configuration with these settings. It tries once: a caller waits for orders, and the informers try again
     * by themselves.
     */
    public Config applyTo(Config base) {
        int millis = Math.toIntExact(requestTimeout.toMillis());
        return new ConfigBuilder(base)
                .withRequestTimeout(millis)
                .withConnectionTimeout(millis)
                .withRequestRetryBackoffLimit(0)
                .build();
    }
}
