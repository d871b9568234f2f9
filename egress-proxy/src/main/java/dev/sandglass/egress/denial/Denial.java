package dev.sandglass.egress.denial;

import java.time.Instant;
import java.util.Map;

/**
 * A target that the rules refuse to a sandbox.
 *
 * @param sandboxUid UID of the resource
 * @param namespace its Kubernetes namespace
 * @param sandbox its name
 * @param host in canonical form
 * @param port from 1 to 65535
 * @param reason as in {@code X-Proxy-Error}
 * @param time of the refusal
 */
public record Denial(
        String sandboxUid, String namespace, String sandbox, String host, int port, String reason, Instant time)
        implements Unreached {

    @Override
    public Map.Entry<String, String> cause() {
        return Map.entry("reason", reason);
    }
}
