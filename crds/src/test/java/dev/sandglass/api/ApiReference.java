package dev.sandglass.api;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sandglass.api.pool.PoolCondition;
import dev.sandglass.api.pool.PoolReason;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.api.toolserver.ToolServerReason;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Renders the reference of the API from its schema: one row per field. */
final class ApiReference {

    private static final String HEAD = """
            # API reference

            Generated from the schema by `make generate`; do not edit. `kubectl explain sbx.spec`,
            `kubectl explain sbxts.spec` and `kubectl explain sbxp.spec` show the same.
            """;

    private ApiReference() {}

    static String markdown() throws IOException {
        StringBuilder text = new StringBuilder(HEAD);
        text.append(
                "\n## Sandbox\n\nKind `Sandbox`, API version `sandglass.dev/v1alpha1`, short name `sbx`, namespaced.\n");
        sections(text, CrdManifest.SANDBOX.schema());
        text.append("\n### Conditions\n\n| type | meaning |\n|---|---|\n");
        for (ConditionType type : ConditionType.values()) {
            row(text, type.value(), type.meaning());
        }
        text.append(
                "\n### Reasons of conditions\n\nA final reason stays until the sandbox or the installation is edited: do"
                        + " not wait for it to pass.\n\n| reason | final | meaning |\n|---|---|---|\n");
        for (Reason reason : Reason.values()) {
            text.append("| `%s` | %s | %s |%n"
                    .formatted(reason.value(), reason.isFinal() ? "yes" : "no", cell(reason.meaning())));
        }
        toolServer(text);
        pool(text);
        return text.toString();
    }

    private static void toolServer(StringBuilder text) throws IOException {
        text.append(
                "\n## SandboxToolServer\n\nKind `SandboxToolServer`, API version `sandglass.dev/v1alpha1`, short name"
                        + " `sbxts`, namespaced.\n");
        sections(text, CrdManifest.TOOL_SERVER.schema());
        text.append("\n### Conditions\n\n| type | meaning |\n|---|---|\n");
        for (ToolServerCondition type : ToolServerCondition.values()) {
            row(text, type.value(), type.meaning());
        }
        text.append("\n### Reasons of conditions\n\nAvailable and Ready also have the reasons that the"
                + " condition Ready of a Sandbox has.\n\n| reason | meaning |\n|---|---|\n");
        for (ToolServerReason reason : ToolServerReason.values()) {
            row(text, reason.value(), reason.meaning());
        }
    }

    private static void pool(StringBuilder text) throws IOException {
        text.append("\n## SandboxPool\n\nKind `SandboxPool`, API version `sandglass.dev/v1alpha1`, short name `sbxp`,"
                + " namespaced. `kubectl scale sbxp NAME --replicas=N` works.\n");
        sections(text, CrdManifest.POOL.schema());
        text.append("\n### Conditions\n\n| type | meaning |\n|---|---|\n");
        for (PoolCondition type : PoolCondition.values()) {
            row(text, type.value(), type.meaning());
        }
        text.append(
                "\n### Reasons of conditions\n\nWhat keeps seats from starting has the reason that the condition Ready of"
                        + " a Sandbox has for it.\n\n| reason | meaning |\n|---|---|\n");
        for (PoolReason reason : PoolReason.values()) {
            row(text, reason.value(), reason.meaning());
        }
    }

    private static void row(StringBuilder text, String name, String meaning) {
        text.append("| `%s` | %s |%n".formatted(name, cell(meaning)));
    }

    private static void sections(StringBuilder text, JSONSchemaProps root) {
        section(text, "spec", SchemaParts.field(root, "spec"));
        section(text, "status", SchemaParts.field(root, "status"));
    }

    private static void section(StringBuilder text, String name, JSONSchemaProps schema) {
        text.append("%n### `%s`%n%n%s%n%n".formatted(name, schema.getDescription()));
        text.append("| field | type | default | validation | meaning |\n|---|---|---|---|---|\n");
        rows(text, "", schema);
    }

    private static void rows(StringBuilder text, String prefix, JSONSchemaProps schema) {
        for (Map.Entry<String, JSONSchemaProps> field : new TreeMap<>(schema.getProperties()).entrySet()) {
            JSONSchemaProps property = field.getValue();
            boolean required = schema.getRequired().contains(field.getKey());
            text.append("| `%s%s` | %s | %s | %s | %s |%n"
                    .formatted(
                            prefix,
                            field.getKey(),
                            type(property),
                            property.getDefault() == null ? "" : "`" + property.getDefault() + "`",
                            String.join("; ", validation(property, required)),
                            cell(property.getDescription())));
            if (!property.getProperties().isEmpty()) {
                rows(text, prefix + field.getKey() + ".", property);
            }
            if (property.getItems() != null
                    && !property.getItems().getSchema().getProperties().isEmpty()) {
                rows(text, prefix + field.getKey() + "[].", property.getItems().getSchema());
            }
        }
    }

    private static String type(JSONSchemaProps property) {
        if (Boolean.TRUE.equals(property.getXKubernetesIntOrString())) {
            return "quantity";
        }
        return property.getFormat() == null ? property.getType() : property.getFormat();
    }

    private static List<String> validation(JSONSchemaProps property, boolean required) {
        List<String> rules = new ArrayList<>();
        if (required) {
            rules.add("required");
        }
        if (!property.getEnum().isEmpty()) {
            rules.add(property.getEnum().stream().map(JsonNode::asText).collect(Collectors.joining(" or ")));
        }
        if (property.getMinimum() != null && property.getMaximum() != null) {
            rules.add("from %.0f to %.0f".formatted(property.getMinimum(), property.getMaximum()));
        }
        if (property.getPattern() != null) {
            rules.add("`" + property.getPattern() + "`");
        }
        if (property.getMaxLength() != null) {
            rules.add("at most %d characters".formatted(property.getMaxLength()));
        }
        if (property.getMaxProperties() != null) {
            rules.add("at most %d entries".formatted(property.getMaxProperties()));
        }
        if (property.getMaxItems() != null) {
            rules.add("at most %d entries".formatted(property.getMaxItems()));
        }
        if (!property.getXKubernetesListMapKeys().isEmpty()) {
            rules.add("unique by `%s`".formatted(String.join(", ", property.getXKubernetesListMapKeys())));
        }
        property.getXKubernetesValidations().stream()
                .map(ValidationRule::getMessage)
                .forEach(rules::add);
        if (property.getItems() != null
                && property.getItems().getSchema().getProperties().isEmpty()) {
            validation(property.getItems().getSchema(), false).stream()
                    .map(rule -> "each entry: " + rule)
                    .forEach(rules::add);
        }
        return rules.stream().map(ApiReference::cell).toList();
    }

    private static String cell(String text) {
        return text == null ? "" : text.replace("|", "\\|");
    }
}
