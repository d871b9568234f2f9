package dev.sandglass.egress.denial;

import java.time.Instant;
import java.util.Map;

/**
 * A target that a sandbox may reach, and to which no connection came about. Its line has no {@code reason}, which
 * tells it from a {@link Denial} also for those who know of nothing else.
 *
 * @param sandboxUid UID of the resource
 * @param namespace its Kubernetes namespace
 * @param sandbox its name
 * @param host in canonical form
 * @param port from 1 to 65535
 * @param why in words of the proxy's own, without a full stop
 * @param time of the failure
 */
public record Failure(
        String sandboxUid, String namespace, String sandbox, String host, int port, String why, Instant time)
        implements Unreached {

    @Override
    public Map.Entry<String, String> cause() {
        return Map.entry("failure", why);
    }
}
