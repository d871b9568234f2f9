package dev.sandglass.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.testing.TestCluster;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.FieldValidateable.Validation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The schema as a real API server understands it: every {@code valid-*.yaml} and every example is accepted, every
 * {@code invalid-*.yaml} is refused with the words of its first line. Fields that do not exist are refused too, as
 * kubectl demands it.
 */
class SchemaIT {

    private static final Path CASES = Path.of("src/test/resources/schema");
    private static final Path EXAMPLES = Path.of("examples");
    private static final String EXPECT = "# expect: ";

    private static KubernetesClient client;
    private static String namespace;

    @BeforeAll
    static void installTheDefinition() throws IOException {
        client = new KubernetesClientBuilder().withConfig(TestCluster.config()).build();
        define(client);
        namespace = "sandglass-schema-" + UUID.randomUUID().toString().substring(0, 8);
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .build())
                .create();
    }

    static void define(KubernetesClient client) throws IOException {
        for (CrdManifest manifest : CrdManifest.ALL) {
            define(client, manifest.definition());
        }
    }

    private static void define(KubernetesClient client, CustomResourceDefinition ours) {
        // The chart may have installed it already; then it is left alone, or the next upgrade would find it changed.
        client.resource(ours).createOr(present -> ours);
        client.resources(CustomResourceDefinition.class)
                .withName(ours.getMetadata().getName())
                .waitUntilCondition(
                        definition -> definition.getStatus() != null
                                && definition.getStatus().getConditions().stream()
                                        .anyMatch(
                                                condition -> condition.getType().equals("Established")
                                                        && condition.getStatus().equals("True")),
                        60,
                        TimeUnit.SECONDS);
    }

    @AfterAll
    static void cleanUp() {
        client.namespaces().withName(namespace).delete();
        client.close();
    }

    @TestFactory
    Stream<DynamicTest> whatIsValidIsAccepted() throws IOException {
        return Stream.concat(files(CASES, "valid-"), files(EXAMPLES, ""))
                .map(file ->
                        DynamicTest.dynamicTest(file.getFileName().toString(), () -> assertThatCode(() -> create(file))
                                .doesNotThrowAnyException()));
    }

    @TestFactory
    Stream<DynamicTest> whatIsInvalidIsRefusedInTheRightWords() throws IOException {
        return files(CASES, "invalid-")
                .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> {
                    String first = Files.readAllLines(file).getFirst();
                    assertThat(first).startsWith(EXPECT);
                    assertThatThrownBy(() -> create(file)).hasMessageContaining(first.substring(EXPECT.length()));
                }));
    }

    @TestFactory
    Stream<DynamicTest> defaultsAreFilledIn() {
        return Stream.of("valid-no-spec.yaml", "valid-plain-numbers.yaml")
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    GenericKubernetesResource made = create(CASES.resolve(name));
                    assertThat(made.<Object>get("spec", "suspended")).isEqualTo(false);
                    assertThat(made.<Object>get("spec", "cpus")).isIn("1", 2);
                }));
    }

    @Test
    void defaultsOfAToolServerAreFilledIn() throws IOException {
        GenericKubernetesResource made = create(CASES.resolve("valid-tool-server-defaults.yaml"));

        assertThat(made.<Object>get("spec", "memory")).isEqualTo("256Mi");
        assertThat(made.<Object>get("spec", "cpus")).isEqualTo("500m");
        assertThat(made.<Object>get("spec", "idleTimeout")).isEqualTo("10m");
        assertThat(made.<Object>get("spec", "limits"))
                .isEqualTo(Map.of("maxResultSize", "4Mi", "concurrency", 16, "callsPerExecution", 1000));
        assertThat(made.<Object>get("spec", "allowedDomains")).isNull();
        assertThat(create(CASES.resolve("valid-tool-server-http.yaml")).<Object>get("spec", "tools", "allow"))
                .as("the server keeps an empty list")
                .isEqualTo(List.of());
    }

    /** As {@code metav1.Condition} has them, so that tools for any resource can read them. */
    @Test
    void conditionsAreThoseOfKubernetes() {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("told");
        sandbox.getMetadata().setNamespace(namespace);
        client.resource(sandbox).create();

        assertThatCode(() -> told(condition())).doesNotThrowAnyException();
        assertThatThrownBy(() -> told(condition().withLastTransitionTime(null))).hasMessageContaining("Required value");
        assertThatThrownBy(() -> told(condition().withMessage(null))).hasMessageContaining("Required value");
        assertThatThrownBy(() -> told(condition().withStatus("Maybe"))).hasMessageContaining("Unsupported value");
        assertThatThrownBy(() -> told(condition().withReason("two words"))).hasMessageContaining("should match");
        assertThatThrownBy(() -> told(condition().withReason("x".repeat(1025)))).hasMessageContaining("1024");
        assertThatThrownBy(() -> told(condition().withObservedGeneration(-1L))).hasMessageContaining("equal to 0");
        String most = "ä".repeat(ConditionType.MAX_MESSAGE);
        assertThatCode(() -> told(condition().withMessage(most))).doesNotThrowAnyException();
        assertThatThrownBy(() -> told(condition().withMessage(most + "ä"))).hasMessageContaining("32768");
    }

    private static ConditionBuilder condition() {
        return new ConditionBuilder()
                .withType("Ready")
                .withStatus("True")
                .withReason("Running")
                .withMessage("It runs")
                .withLastTransitionTime("2026-01-01T00:00:00Z")
                .withObservedGeneration(1L);
    }

    private static void told(ConditionBuilder condition) {
        client.resources(Sandbox.class).inNamespace(namespace).withName("told").editStatus(found -> {
            found.setStatus(SandboxStatus.UNSEEN.withConditions(List.of(condition.build())));
            return found;
        });
    }

    /** What a rule about a change says; the volume that is there already cannot follow. */
    @Test
    void aWorkspaceGrowsAndStaysInItsClass() {
        Workspace first = Workspace.of("2Gi", "local", null);
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("grows");
        sandbox.getMetadata().setNamespace(namespace);
        sandbox.setSpec(SandboxSpec.DEFAULT.withWorkspace(first));
        client.resource(sandbox).create();

        assertThatThrownBy(() -> edit(Workspace.of("1Gi", "local", null)))
                .hasMessageContaining(VolumeSchemaRules.SHRUNK);
        assertThatThrownBy(() -> edit(Workspace.of("2Gi", "other", null)))
                .hasMessageContaining(VolumeSchemaRules.CLASS_CHANGED);
        assertThatCode(() -> edit(Workspace.of("3Gi", "local", true))).doesNotThrowAnyException();
    }

    private static void edit(Workspace workspace) {
        client.resources(Sandbox.class).inNamespace(namespace).withName("grows").edit(sandbox -> {
            sandbox.setSpec(sandbox.wanted().withWorkspace(workspace));
            return sandbox;
        });
    }

    private static Stream<Path> files(Path folder, String prefix) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith(prefix)).sorted().toList().stream();
        }
    }

    private static GenericKubernetesResource create(Path file) throws IOException {
        GenericKubernetesResource resource =
                TestResources.parse(Files.readString(file), GenericKubernetesResource.class);
        resource.getMetadata().setNamespace(namespace);
        GenericKubernetesResource made =
                client.resource(resource).fieldValidation(Validation.STRICT).create();
        client.resource(made).delete();
        return made;
    }
}
