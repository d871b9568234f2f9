package dev.sandglass.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sandglass.api.egress.DomainRule;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRule;
import io.fabric8.kubernetes.api.model.apiextensions.v1.ValidationRuleBuilder;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** What several kinds need in their schemas, and the generator's annotations cannot say. */
final class SchemaParts {

    private SchemaParts() {}

    /** The schema of {@code metav1.Condition}, whose class is a library's and has no annotations for us. */
    static void conditions(JSONSchemaProps status, String types, String reasons) {
        byKey(field(status, "conditions"), "type");
        JSONSchemaProps condition = field(status, "conditions").getItems().getSchema();
        condition.setRequired(List.of("lastTransitionTime", "message", "reason", "status", "type"));
        JSONSchemaProps type = describe(condition, "type", types);
        type.setMaxLength(316L);
        type.setPattern("^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
                + "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$");
        oneOf(describe(condition, "status", "True, False or Unknown."), "True", "False", "Unknown");
        JSONSchemaProps reason = describe(
                condition,
                "reason",
                "The cause in one word: " + reasons + ". The API reference (docs/api.md) explains each.");
        reason.setMinLength(1L);
        reason.setMaxLength(1024L);
        reason.setPattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$");
        describe(condition, "message", "What happened and what to do, in a sentence.")
                .setMaxLength((long) ConditionType.MAX_MESSAGE);
        describe(condition, "lastTransitionTime", "When the status last changed.")
                .setFormat("date-time");
        JSONSchemaProps generation =
                describe(condition, "observedGeneration", "Generation of the spec that this condition describes.");
        generation.setFormat("int64");
        generation.setMinimum(0.0);
    }

    static JSONSchemaProps field(JSONSchemaProps schema, String name) {
        return Objects.requireNonNull(schema.getProperties().get(name), name);
    }

    static JSONSchemaProps describe(JSONSchemaProps root, String property, String description) {
        JSONSchemaProps schema = field(root, property);
        schema.setDescription(description);
        return schema;
    }

    /** The generator's annotation for rules does not go with the entries of a list. */
    static void domains(JSONSchemaProps list) {
        JSONSchemaProps entry = list.getItems().getSchema();
        entry.setMaxLength((long) DomainRule.MAX_LENGTH);
        entry.setXKubernetesValidations(List.of(
                rule(DomainSchemaRules.ENTRY, DomainSchemaRules.NOT_AN_ENTRY),
                rule(DomainSchemaRules.NOT_A_WHOLE_TLD, DomainSchemaRules.A_WHOLE_TLD)));
        // One decision of one author: a merge of two lists would open what neither of them meant.
        list.setXKubernetesListType("atomic");
    }

    static ValidationRule rule(String expression, String message) {
        return new ValidationRuleBuilder()
                .withRule(expression)
                .withMessage(message)
                .build();
    }

    static void byKey(JSONSchemaProps list, String key) {
        list.setXKubernetesListType("map");
        list.setXKubernetesListMapKeys(List.of(key));
        JSONSchemaProps item = list.getItems().getSchema();
        if (!item.getRequired().contains(key)) {
            item.setRequired(List.of(key));
        }
    }

    static void oneOf(JSONSchemaProps text, String... values) {
        text.setEnum(Stream.of(values).<JsonNode>map(TextNode::valueOf).toList());
    }
}
