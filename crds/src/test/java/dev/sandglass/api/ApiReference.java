package dev.sandglass.api;

import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Renders the reference of the API from its schema: one row per field. */
final class ApiReference {

    private static final String HEAD = """
            # API reference

            Generated from the schema by `make generate`; do not edit. `kubectl explain sbx.spec` shows the same.

            Kind `Sandbox`, API version `sandglass.dev/v1alpha1`, short name `sbx`, namespaced.
            """;

    private ApiReference() {}

    static String markdown(JSONSchemaProps root) {
        StringBuilder text = new StringBuilder(HEAD);
        section(text, "spec", CrdManifest.field(root, "spec"));
        section(text, "status", CrdManifest.field(root, "status"));
        text.append("\n## Conditions\n\n| type | meaning |\n|---|---|\n");
        for (ConditionType type : ConditionType.values()) {
            text.append("| `%s` | %s |%n".formatted(type.value(), cell(type.meaning())));
        }
        text.append(
                "\n## Reasons of conditions\n\nA final reason stays until the sandbox or the installation is edited: do"
                        + " not wait for it to pass.\n\n| reason | final | meaning |\n|---|---|---|\n");
        for (Reason reason : Reason.values()) {
            text.append("| `%s` | %s | %s |%n"
                    .formatted(reason.value(), reason.isFinal() ? "yes" : "no", cell(reason.meaning())));
        }
        return text.toString();
    }

    private static void section(StringBuilder text, String name, JSONSchemaProps schema) {
        text.append("%n## `%s`%n%n%s%n%n".formatted(name, schema.getDescription()));
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
        if (property.getPattern() != null) {
            rules.add("`" + property.getPattern() + "`");
        }
        if (property.getMaxLength() != null) {
            rules.add("at most %d characters".formatted(property.getMaxLength()));
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
