package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.testing.TestCluster;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every shared example of an entry, as a real API server takes it by the schema. */
class AllowedDomainsIT {

    /** What only Java refuses; {@link DomainSchemaRules} says why. */
    private static final Set<String> LET_THROUGH =
            Set.of("*.co.uk", "10.0.0.1/8", "2606:2800::1/32", "::ffff:5db8:d70e", "1:2:3:4:5:6:7::8");

    record Entry(
            String entry,
            @Nullable String canonical,
            @Nullable String refused) {}

    record Vectors(List<Entry> rules, List<Object> decisions) {}

    private static KubernetesClient client;
    private static String namespace;

    @BeforeAll
    static void prepare() throws IOException {
        client = new KubernetesClientBuilder().withConfig(TestCluster.config()).build();
        SchemaIT.define(client);
        namespace = "sandglass-domains-" + UUID.randomUUID().toString().substring(0, 8);
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .build())
                .create();
    }

    @AfterAll
    static void cleanUp() {
        client.namespaces().withName(namespace).delete();
        client.close();
    }

    @TestFactory
    Stream<DynamicTest> theSchemaRefusesWhatJavaRefusesAndNothingElse() throws IOException {
        List<Entry> entries = entries();
        assertThat(entries).extracting(Entry::entry).containsAll(LET_THROUGH);
        return entries.stream()
                .map(vector -> DynamicTest.dynamicTest("'" + vector.entry() + "'", () -> {
                    boolean expected = vector.refused() == null || LET_THROUGH.contains(vector.entry());
                    assertThat(isTaken(vector.entry())).isEqualTo(expected);
                }));
    }

    @Test
    void theServerKeepsAnEmptyListAndMakesNoneUp() {
        assertThat(kept(SandboxSpec.DEFAULT.withAllowedDomains(List.of())).allowedDomains())
                .isEmpty();
        assertThat(kept(SandboxSpec.DEFAULT).allowedDomains()).isNull();
    }

    private static SandboxSpec kept(SandboxSpec spec) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("any");
        sandbox.getMetadata().setNamespace(namespace);
        sandbox.setSpec(spec);
        return client.resource(sandbox).dryRun(true).create().wanted();
    }

    private static boolean isTaken(String entry) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("any");
        sandbox.getMetadata().setNamespace(namespace);
        sandbox.setSpec(SandboxSpec.DEFAULT.withAllowedDomains(List.of("example.com", entry)));
        try {
            client.resource(sandbox).dryRun(true).create();
            return true;
        } catch (KubernetesClientException refused) {
            assertThat(refused).hasMessageContaining("spec.allowedDomains[1]: Invalid value");
            return false;
        }
    }

    private static List<Entry> entries() throws IOException {
        try (InputStream file =
                Objects.requireNonNull(DomainRule.class.getResourceAsStream("egress-vectors.yaml"), "the vectors")) {
            return TestResources.parse(new String(file.readAllBytes(), StandardCharsets.UTF_8), Vectors.class)
                    .rules();
        }
    }
}
