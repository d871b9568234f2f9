package dev.sandglass.operator.pod;

import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.TrustedAuthorities;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.List;
import java.util.stream.Stream;

/** How a pod finds {@link TrustedAuthorities}: files, and a variable for each usual client; nothing without them. */
final class PodTrust {

    private static final String VOLUME = "trusted-ca";
    private static final String FOLDER = "/etc/sandglass/ca";

    /** Clients that read one file instead of their own; OpenSSL and what stands on it, Python, curl, git, npm, cargo. */
    private static final List<String> INSTEAD = List.of(
            "SSL_CERT_FILE",
            "REQUESTS_CA_BUNDLE",
            "CURL_CA_BUNDLE",
            "GIT_SSL_CAINFO",
            "PIP_CERT",
            "CARGO_HTTP_CAINFO",
            "npm_config_cafile");

    /** Node has the public ones built in, and reads this file at each of its starts. */
    private static final String ADDED = "NODE_EXTRA_CA_CERTS";

    private PodTrust() {}

    static List<EnvVar> variables(PodSettings settings) {
        if (settings.authorities().isEmpty()) {
            return List.of();
        }
        return Stream.concat(
                        INSTEAD.stream().map(name -> variable(name, TrustedAuthorities.BUNDLE)),
                        Stream.of(variable(ADDED, TrustedAuthorities.SITE)))
                .toList();
    }

    /** The options that a Java virtual machine needs. */
    static List<String> javaOptions(PodSettings settings) {
        return settings.authorities().isEmpty()
                ? List.of()
                : List.of(
                        "-Djavax.net.ssl.trustStore=" + FOLDER + "/" + TrustedAuthorities.STORE,
                        "-Djavax.net.ssl.trustStoreType=PKCS12");
    }

    static List<Volume> volumes(PodSettings settings) {
        return settings.authorities().isEmpty()
                ? List.of()
                : List.of(new VolumeBuilder()
                        .withName(VOLUME)
                        .withNewConfigMap()
                        .withName(TrustedAuthorities.NAME)
                        .endConfigMap()
                        .build());
    }

    static List<VolumeMount> mounts(PodSettings settings) {
        return settings.authorities().isEmpty()
                ? List.of()
                : List.of(new VolumeMountBuilder()
                        .withName(VOLUME)
                        .withMountPath(FOLDER)
                        .withReadOnly(true)
                        .build());
    }

    private static EnvVar variable(String name, String file) {
        return new EnvVarBuilder().withName(name).withValue(FOLDER + "/" + file).build();
    }
}
