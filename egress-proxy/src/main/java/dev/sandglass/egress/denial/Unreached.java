package dev.sandglass.egress.denial;

import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** A target that a sandbox asked for and does not reach: the rules refuse it, or the way to it failed. */
public sealed interface Unreached permits Denial, Failure {

    /** UID of the resource. */
    String sandboxUid();

    /** Its Kubernetes namespace. */
    String namespace();

    /** Its name. */
    String sandbox();

    /** In canonical form. */
    String host();

    /** From 1 to 65535. */
    int port();

    /** The field of the line that says why, and what it says. */
    Map.Entry<String, String> cause();

    /** When it was. */
    Instant time();

    /** One line of JSON, with its end. */
    default String line() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("sandboxUid", sandboxUid());
        fields.put("namespace", namespace());
        fields.put("sandbox", sandbox());
        fields.put("host", host());
        fields.put("port", port());
        fields.put(cause().getKey(), cause().getValue());
        fields.put("time", time().toString());
        return Serialization.asJson(fields) + "\n";
    }
}
