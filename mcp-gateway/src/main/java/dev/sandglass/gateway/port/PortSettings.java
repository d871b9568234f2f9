package dev.sandglass.gateway.port;

import dev.sandglass.gateway.websocket.SocketSettings;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How ports of sandboxes are made reachable.
 *
 * @param publicUrl what clients call this gateway, without path's end, e.g. {@code https://sandglass.example.com}
 *     ({@code GATEWAY_PORT_PUBLIC_URL}); without it addresses are told from the slash on
 * @param linkLifetime how long a link for browsers is good for
 * @param idleTimeout after which a connection on which nothing moves is closed
 * @param connectTimeout for the connection to the sandbox
 * @param maxConnectionsPerSandbox of all callers together, on one replica
 * @param maxConnectionsPerTenant to all of its sandboxes, on one replica: the rest is for other tenants
 * @param maxConnections to all sandboxes, on one replica
 * @param reachedBy who reaches them at all ({@code GATEWAY_PORT_REACHED_BY}, the chart's value {@code gateway.ports})
 * @param sockets bounds of WebSockets
 */
public record PortSettings(
        @Nullable URI publicUrl,
        @DefaultValue("1h") Duration linkLifetime,
        @DefaultValue("5m") Duration idleTimeout,
        @DefaultValue("5s") Duration connectTimeout,
        @DefaultValue("64") int maxConnectionsPerSandbox,
        @DefaultValue("384") int maxConnectionsPerTenant,
        @DefaultValue("512") int maxConnections,
        @DefaultValue("links") ReachedBy reachedBy,
        @DefaultValue SocketSettings sockets) {

    /** What leads to a port. */
    public enum ReachedBy {
        /** An API key, or a link. */
        LINKS,
        /** An API key alone. */
        KEYS,
        /** Nothing. */
        NONE
    }

    private static final Duration LONGEST_LOOK = Duration.ofSeconds(5);

    /** Refuses a public URL that is none. */
    public PortSettings {
        if (publicUrl != null
                && (publicUrl.getHost() == null
                        || publicUrl.getQuery() != null
                        || publicUrl.getFragment() != null
                        || publicUrl.getUserInfo() != null
                        || !("https".equals(publicUrl.getScheme()) || "http".equals(publicUrl.getScheme())))) {
            throw new IllegalArgumentException("gateway.port.public-url (GATEWAY_PORT_PUBLIC_URL) must be like"
                    + " https://sandglass.example.com, not '" + publicUrl + "'");
        }
        if (!idleTimeout.isPositive() || !linkLifetime.isPositive()) {
            throw new IllegalArgumentException(
                    "gateway.port.idle-timeout and gateway.port.link-lifetime must be longer than nothing");
        }
    }

    /** What stands before every path; without a slash at its end, empty if not known. */
    String base() {
        String url = publicUrl == null ? "" : publicUrl.toString();
        return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }

    /** How clients speak to us, for the sandbox's {@code X-Forwarded-Proto}. */
    String scheme() {
        return publicUrl == null ? "http" : publicUrl.getScheme();
    }

    /** How often an open connection is looked at. */
    Duration look() {
        Duration quarter = idleTimeout.dividedBy(4);
        return quarter.compareTo(LONGEST_LOOK) < 0 ? quarter : LONGEST_LOOK;
    }
}
