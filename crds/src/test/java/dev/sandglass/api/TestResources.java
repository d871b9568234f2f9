package dev.sandglass.api;

import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/** YAML to objects and back, with the client's own rules. */
final class TestResources {

    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

    private TestResources() {}

    static <T> T parse(String yaml, Class<T> type) {
        return SERIALIZATION.unmarshal(yaml, type);
    }

    static String json(Object value) {
        return SERIALIZATION.asJson(value);
    }
}
