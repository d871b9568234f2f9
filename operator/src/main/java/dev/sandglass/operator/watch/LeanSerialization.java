package dev.sandglass.operator.watch;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sandglass.api.watch.ReadableSerialization;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PodSpec;

/**
 * Reads objects without what nothing here looks at and what would be most of the memory of a cache of thousands: who
 * wrote which field, of a pod's spec what stays as the operator wrote it, and what ConfigMaps hold. Writes are whole; the
 * API server keeps {@code managedFields} when a write leaves them out, and no pod or ConfigMap that was read is written
 * back.
 */
public final class LeanSerialization {

    private LeanSerialization() {}

    public static ReadableSerialization create() {
        ObjectMapper mapper = new ObjectMapper();
        mapper.addMixIn(ObjectMeta.class, LeanMetadata.class);
        mapper.addMixIn(PodSpec.class, LeanPodSpec.class);
        mapper.addMixIn(Container.class, LeanContainer.class);
        mapper.addMixIn(ConfigMap.class, LeanConfigMap.class);
        return new ReadableSerialization(mapper).knowingSandboxes();
    }

    @JsonIgnoreProperties("managedFields")
    private abstract static class LeanMetadata {}

    @JsonIgnoreProperties(
            value = {"tolerations", "dnsConfig", "securityContext"},
            allowGetters = true)
    private abstract static class LeanPodSpec {}

    @JsonIgnoreProperties(
            value = {"env", "ports", "securityContext", "volumeMounts"},
            allowGetters = true)
    private abstract static class LeanContainer {}

    @JsonIgnoreProperties(
            value = {"data", "binaryData"},
            allowGetters = true)
    private abstract static class LeanConfigMap {}
}
