package dev.sandglass.egress.denial;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.LinkedHashMap;
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
    public String line() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("sandboxUid", sandboxUid);
        fields.put("namespace", namespace);
        fields.put("sandbox", sandbox);
        fields.put("host", host);
        fields.put("port", port);
        fields.put("failure", why);
        fields.put("time", time.toString());
        return Serialization.asJson(fields) + "\n";
    }
}
