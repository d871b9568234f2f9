package dev.sandglass.api;

import static dev.sandglass.api.SchemaParts.field;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.pool.PoolCondition;
import dev.sandglass.api.pool.PoolReason;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.api.toolserver.SandboxSelector;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.api.toolserver.ToolServerReason;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceSubresources;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What is committed is what the records say; with {@code -Dsandglass.generate=true} it is written instead. */
class CrdManifestTest {

    private static final Path IN_JAR = Path.of("src/main/resources/META-INF/fabric8");
    private static final Path FOR_CHART = Path.of("generated");
    private static final Path REFERENCE = Path.of("generated", "api.md");

    @Test
    void committedManifestsAreUpToDate() throws IOException {
        for (CrdManifest manifest : CrdManifest.ALL) {
            committed(IN_JAR.resolve(manifest.file()), manifest.yaml());
            committed(FOR_CHART.resolve(manifest.file()), manifest.yaml());
        }
    }

    /** To Kubernetes, which reads YAML 1.1, a bare {@code True} is a boolean, and no text is among the values then. */
    @Test
    void textsThatLookLikeBooleansAreQuoted() throws IOException {
        for (CrdManifest manifest : CrdManifest.ALL) {
            assertThat(manifest.yaml())
                    .contains("- \"True\"", "- \"False\"")
                    .doesNotContainPattern("(?m)^ *- (?i:true|false|yes|no|on|off)$");
        }
    }

    @Test
    void committedReferenceIsUpToDate() throws IOException {
        committed(REFERENCE, ApiReference.markdown());
    }

    @Test
    void everyFieldIsExplained() throws IOException {
        for (CrdManifest manifest : CrdManifest.ALL) {
            JSONSchemaProps root = manifest.schema();
            assertThat(root.getDescription()).isNotBlank();
            explained(manifest.file(), root);
        }
    }

    /** What is not bounded can fill the API server's storage, and a client's memory. */
    @Test
    void everyFieldOfTheSpecsOfToolServersAndPoolsIsBounded() throws IOException {
        bounded("spec", SchemaParts.field(CrdManifest.TOOL_SERVER.schema(), "spec"));
        bounded("spec", SchemaParts.field(CrdManifest.POOL.schema(), "spec"));
    }

    /** What {@code kubectl scale sbxp} and an autoscaler need. */
    @Test
    void aPoolCanBeScaled() throws IOException {
        CustomResourceSubresources subresources =
                CrdManifest.POOL.definition().getSpec().getVersions().getFirst().getSubresources();
        assertThat(subresources.getStatus()).isNotNull();
        assertThat(subresources.getScale().getSpecReplicasPath()).isEqualTo(".spec.replicas");
        assertThat(subresources.getScale().getStatusReplicasPath()).isEqualTo(".status.replicas");
        assertThat(subresources.getScale().getLabelSelectorPath()).isEqualTo(".status.selector");
    }

    @Test
    void boundsAndDefaultsOfPoolsAreTheSameInSchemaAndJava() throws IOException {
        JSONSchemaProps spec = field(CrdManifest.POOL.schema(), "spec");
        assertThat(field(spec, "replicas").getMinimum()).isZero();
        assertThat(field(spec, "replicas").getMaximum()).isEqualTo(SandboxPoolSpec.MAX_REPLICAS);
        assertThat(field(spec, "replicas").getDefault().asInt()).isEqualTo(SandboxPoolSpec.DEFAULT.replicas());
        assertThat(field(spec, "languages").getMaxItems()).isEqualTo(SandboxPoolSpec.MAX_LANGUAGES);
        assertThat(field(spec, "languages").getDefault())
                .extracting(JsonNode::asText)
                .isEqualTo(SandboxPoolSpec.DEFAULT.languages());
        JSONSchemaProps template = field(spec, "template");
        JSONSchemaProps sandbox = field(CrdManifest.SANDBOX.schema(), "spec");
        for (String shared : List.of("image", "memory", "cpus", "disk", "runtimeClassName")) {
            JSONSchemaProps ofPool = field(template, shared);
            JSONSchemaProps ofSandbox = field(sandbox, shared);
            assertThat(ofPool.getDefault()).as(shared).isEqualTo(ofSandbox.getDefault());
            assertThat(ofPool.getMaxLength()).as(shared).isEqualTo(ofSandbox.getMaxLength());
            assertThat(ofPool.getPattern()).as(shared).isEqualTo(ofSandbox.getPattern());
            assertThat(ofPool.getXKubernetesValidations()).as(shared).isEqualTo(ofSandbox.getXKubernetesValidations());
        }
        assertThat(template.getProperties()).hasSize(5);
    }

    private static void bounded(String place, JSONSchemaProps schema) {
        if ("string".equals(schema.getType()) && schema.getEnum().isEmpty()) {
            assertThat(schema.getMaxLength()).as(place).isNotNull();
        }
        if ("integer".equals(schema.getType())) {
            assertThat(schema.getMaximum()).as(place).isNotNull();
        }
        if (schema.getItems() != null) {
            assertThat(schema.getMaxItems()).as(place).isNotNull();
            bounded(place + "[]", schema.getItems().getSchema());
        }
        if (schema.getAdditionalProperties() != null) {
            assertThat(schema.getMaxProperties()).as(place).isNotNull();
            bounded(place + "{}", schema.getAdditionalProperties().getSchema());
        }
        schema.getProperties().forEach((name, field) -> bounded(place + "." + name, field));
    }

    private static void explained(String path, JSONSchemaProps schema) {
        schema.getProperties().forEach((name, field) -> {
            String place = path + "." + name;
            assertThat(field.getDescription()).as(place).isNotBlank();
            explained(place, field);
            if (field.getItems() != null) {
                explained(place + "[]", field.getItems().getSchema());
            }
        });
    }

    @Test
    void reservedNamesAreTheSameInSchemaAndJava() {
        EnvRules.RESERVED_NAMES.forEach(
                name -> assertThat(SchemaRules.ENV_NAME_NOT_RESERVED).contains("'" + name + "'"));
        EnvRules.RESERVED_PREFIXES.forEach(
                prefix -> assertThat(SchemaRules.ENV_NAME_NOT_RESERVED).contains("startsWith('" + prefix + "')"));
        assertThat(SchemaRules.ENV_SIZE).endsWith("<= " + EnvRules.MAX_BYTES);
    }

    /**
     * The words themselves are compared by {@link SchemaIT}, with a real API server's answers. A rule about what changes
     * needs two manifests; it has a test of its own there.
     */
    @Test
    void everyRuleHasAnInvalidManifest() throws IOException {
        List<String> expected = new ArrayList<>();
        for (Path file : invalid()) {
            expected.add(Files.readAllLines(file).getFirst().substring("# expect: ".length()));
        }
        for (CrdManifest manifest : CrdManifest.ALL) {
            assertThat(messages(manifest.schema()))
                    .allSatisfy(message -> assertThat(expected).anyMatch(message::contains));
        }
    }

    private static List<Path> invalid() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/test/resources/schema"))) {
            return files.filter(file -> file.getFileName().toString().startsWith("invalid-"))
                    .toList();
        }
    }

    private static List<String> messages(JSONSchemaProps schema) {
        List<String> messages = new ArrayList<>();
        schema.getXKubernetesValidations().stream()
                .filter(rule -> !rule.getRule().contains("oldSelf"))
                .forEach(rule -> messages.add(rule.getMessage()));
        schema.getProperties().values().forEach(field -> messages.addAll(messages(field)));
        if (schema.getItems() != null) {
            messages.addAll(messages(schema.getItems().getSchema()));
        }
        return messages;
    }

    @Test
    void boundsOfDurationsAreTheSameInSchemaAndJava() {
        assertThat(SchemaRules.UP_TO_A_MONTH)
                .contains("duration('" + TimeLimit.LEAST + "')")
                .endsWith("duration('" + TimeLimit.IDLE_TIMEOUT.most() + "')");
        assertThat(TimeLimit.MAX_LIFETIME.most()).isEqualTo(TimeLimit.IDLE_TIMEOUT.most());
        assertThat(SchemaRules.UP_TO_A_YEAR).endsWith("duration('" + TimeLimit.RETENTION.most() + "')");
        assertThat(List.of(SchemaRules.IDLE_TIMEOUT_WRONG, SchemaRules.MAX_LIFETIME_WRONG, SchemaRules.RETENTION_WRONG))
                .containsExactlyElementsOf(Arrays.stream(TimeLimit.values())
                        .map(limit -> limit.field() + " " + limit.problem("").orElseThrow())
                        .toList());
    }

    @Test
    void boundsOfToolServersAreTheSameInSchemaAndJava() {
        assertThat(SandboxToolServer.MAX_NAME).isEqualTo(59);
        assertThat(SandboxToolServer.childName("a".repeat(SandboxToolServer.MAX_NAME)))
                .hasSize(63);
        assertThat(SandboxToolServerSpec.MAX_DOMAINS + 1).isEqualTo(EgressRules.MAX_ENTRIES);
        assertThat(SandboxSelector.MAX_KEY).isEqualTo(317);
    }

    @Test
    void theLinksPortIsTheSameInSchemaAndJava() {
        assertThat(SchemaRules.PORT_NOT_LINK).endsWith("!= " + SandboxLabels.LINK_PORT);
        assertThat(SandboxPort.allowed(SandboxLabels.LINK_PORT)).isFalse();
        assertThat(SandboxPort.allowed(SandboxPort.MIN)).isTrue();
        assertThat(SandboxPort.allowed(SandboxPort.MIN - 1)).isFalse();
        assertThat(SandboxPort.allowed(SandboxPort.MAX)).isTrue();
        assertThat(SandboxPort.allowed(SandboxPort.MAX + 1)).isFalse();
    }

    /** What tools for any resource rely on: a merge, a category, conditions that they can read. */
    @Test
    void conventionsOfKubernetesHold() throws IOException {
        for (CrdManifest manifest : CrdManifest.ALL) {
            assertThat(manifest.definition().getSpec().getNames().getCategories())
                    .as("not `all`: `kubectl delete all --all` would take sandboxes along")
                    .containsExactly("sandglass");
            JSONSchemaProps root = manifest.schema();
            Optional.ofNullable(field(root, "spec").getProperties().get("allowedDomains"))
                    .ifPresent(domains ->
                            assertThat(domains.getXKubernetesListType()).isEqualTo("atomic"));
            JSONSchemaProps conditions = field(field(root, "status"), "conditions");
            assertThat(conditions.getXKubernetesListType()).isEqualTo("map");
            assertThat(conditions.getXKubernetesListMapKeys()).containsExactly("type");
            assertThat(conditions.getItems().getSchema().getRequired())
                    .containsExactlyInAnyOrder("lastTransitionTime", "message", "reason", "status", "type");
        }
    }

    /** The schema has to take every condition that the operator can write. */
    @Test
    void ourWordsAreWithinTheSchemaOfConditions() throws IOException {
        JSONSchemaProps condition = condition(CrdManifest.SANDBOX);
        assertThat(ConditionType.values()).allSatisfy(type -> assertThat(type.value())
                .matches(field(condition, "type").getPattern()));
        assertThat(Reason.values()).allSatisfy(reason -> assertThat(reason.value())
                .matches(field(condition, "reason").getPattern()));
        JSONSchemaProps ofServer = condition(CrdManifest.TOOL_SERVER);
        assertThat(ToolServerCondition.values()).allSatisfy(type -> assertThat(type.value())
                .matches(field(ofServer, "type").getPattern()));
        assertThat(ToolServerReason.values()).allSatisfy(reason -> assertThat(reason.value())
                .matches(field(ofServer, "reason").getPattern()));
        JSONSchemaProps ofPool = condition(CrdManifest.POOL);
        assertThat(PoolCondition.values()).allSatisfy(type -> assertThat(type.value())
                .matches(field(ofPool, "type").getPattern()));
        assertThat(PoolReason.values()).allSatisfy(reason -> assertThat(reason.value())
                .matches(field(ofPool, "reason").getPattern()));
    }

    private static JSONSchemaProps condition(CrdManifest manifest) throws IOException {
        return field(field(manifest.schema(), "status"), "conditions")
                .getItems()
                .getSchema();
    }

    private static void committed(Path file, String expected) throws IOException {
        if (Boolean.getBoolean("sandglass.generate")) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, expected);
        }
        assertThat(file)
                .as("run: make generate (or mvn -pl crds test -Dsandglass.generate=true)")
                .exists();
        assertThat(Files.readString(file))
                .as("%s is stale; run: make generate", file)
                .isEqualTo(expected);
    }
}
