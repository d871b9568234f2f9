package dev.sandglass.gateway.port;

import com.fasterxml.jackson.annotation.JsonProperty;
import org.jspecify.annotations.Nullable;

/**
 * Where a declared port is reached.
 *
 * @param port in the sandbox
 * @param name of the port in the resource; null for none
 * @param url for programs, which send their credentials with every request; without host if the installation's own is not known
 * @param link for browsers, carries its own permission; null where the installation has none
 * @param linkExpiresAt end of the link, RFC 3339 in UTC; null without one
 */
public record PortAddress(
        int port,
        @Nullable String name,
        String url,
        @Nullable String link,
        @JsonProperty("link_expires_at") @Nullable String linkExpiresAt) {

    /** Never the link, which is a permission. */
    @Override
    public String toString() {
        return "PortAddress[" + url + "]";
    }
}
