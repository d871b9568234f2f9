package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.settings.TrustedAuthorities;
import dev.sandglass.testing.TestCluster;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ConfigMap with the site's authorities: made, kept, changed with the installation, and not written otherwise. */
class TrustedAuthoritiesIT {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final String FOLDER = "src/test/resources/authorities/";

    private TestNamespace namespace;
    private KubernetesClient admin;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        namespace.grantAuthorities();
        admin = new KubernetesClientBuilder().withConfig(TestCluster.config()).build();
    }

    @AfterEach
    void cleanUp() {
        admin.close();
        namespace.close();
    }

    private static Map<String, String> authorities(String name) {
        return Map.of("TRUSTED_CA_FILE", FOLDER + name + ".pem");
    }

    private Optional<ConfigMap> present() {
        return Optional.ofNullable(admin.configMaps()
                .inNamespace(namespace.name)
                .withName(TrustedAuthorities.NAME)
                .get());
    }

    private static boolean ready(Sandbox sandbox) {
        return sandbox.getStatus() != null && sandbox.getStatus().holds(ConditionType.READY);
    }

    @Test
    void oneWriteForANamespaceAndNoneForASandbox() {
        try (TestNamespace.Running operator = namespace.operator(authorities("site"))) {
            for (String name : new String[] {"first", "second", "third"}) {
                namespace.create(name, SandboxSpec.DEFAULT);
                namespace.await(name, SOON, TrustedAuthoritiesIT::ready);
            }
            assertThat(operator.requests("POST", "configmaps")).isEqualTo(1);
            assertThat(operator.requests("PUT", "configmaps")).isZero();
            assertThat(present().orElseThrow().getData()).containsOnlyKeys("bundle.crt", "site.crt");
        }
        try (TestNamespace.Running next = namespace.operator(authorities("site"))) {
            namespace.create("fourth", SandboxSpec.DEFAULT);
            namespace.await("fourth", SOON, TrustedAuthoritiesIT::ready);
            assertThat(next.requests("POST", "configmaps") + next.requests("PUT", "configmaps"))
                    .isZero();
        }
    }

    @Test
    void whatIsDeletedComesBackAndWhatTheInstallationChangesIsChanged() {
        String before;
        try (TestNamespace.Running operator = namespace.operator(authorities("site"))) {
            namespace.create("first", SandboxSpec.DEFAULT);
            namespace.await("first", SOON, TrustedAuthoritiesIT::ready);
            before = present().orElseThrow().getMetadata().getUid();
            admin.resource(present().orElseThrow()).delete();
            await().atMost(SOON).untilAsserted(() -> assertThat(present())
                    .get()
                    .extracting(map -> map.getMetadata().getUid())
                    .isNotEqualTo(before));
            // The watch may tell of a write before its answer is counted.
            await().until(() -> operator.requests("POST", "configmaps") >= 2);
        }
        String site = present().orElseThrow().getData().get("site.crt");
        try (TestNamespace.Running next = namespace.operator(authorities("other"))) {
            await().atMost(SOON).untilAsserted(() -> assertThat(
                            present().orElseThrow().getData().get("site.crt"))
                    .isNotEqualTo(site));
            await().until(() -> next.requests("PUT", "configmaps") >= 1);
        }
    }
}
