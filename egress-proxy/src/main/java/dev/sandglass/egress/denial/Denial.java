package dev.sandglass.egress.denial;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.LinkedHashMap;
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
    public String line() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("sandboxUid", sandboxUid);
        fields.put("namespace", namespace);
        fields.put("sandbox", sandbox);
        fields.put("host", host);
        fields.put("port", port);
        fields.put("reason", reason);
        fields.put("time", time.toString());
        return Serialization.asJson(fields) + "\n";
    }
}
