package dev.sandglass.api;

import static dev.sandglass.api.SchemaParts.describe;
import static dev.sandglass.api.SchemaParts.field;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sandglass.api.pool.PoolCondition;
import dev.sandglass.api.pool.PoolReason;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What the annotations of {@link dev.sandglass.api.pool.SandboxPool} cannot say. */
final class PoolSchema {

    /** Longer than any language; the entries' rule names those that there are. */
    private static final long MAX_LANGUAGE = 32;

    private PoolSchema() {}

    static void complete(JSONSchemaProps root) {
        root.setDescription("A number of spare pods, its seats, that the operator keeps ready for the sandboxes of the"
                + " namespace. A sandbox whose spec a seat meets claims one instead of waiting for a pod.");
        JSONSchemaProps spec = describe(root, "spec", "What the pool keeps ready; without it every default applies.");
        // Defaults inside an absent object do not apply, hence the empty ones.
        spec.setDefault(JsonNodeFactory.instance.objectNode());
        field(spec, "template").setDefault(JsonNodeFactory.instance.objectNode());
        JSONSchemaProps languages = field(spec, "languages");
        languages.setDefault(JsonNodeFactory.instance.arrayNode().add("python"));
        languages.setXKubernetesListType("atomic");
        languages.getItems().getSchema().setMaxLength(MAX_LANGUAGE);
        JSONSchemaProps status = describe(root, "status", "State of the pool; only the operator writes it.");
        for (String count : List.of("replicas", "readyReplicas", "updatedReplicas")) {
            field(status, count).setMinimum(0.0);
        }
        SchemaParts.conditions(status, types(), reasons());
    }

    private static String types() {
        return Arrays.stream(PoolCondition.values())
                .map(known -> known.value() + " - " + known.meaning())
                .collect(Collectors.joining(" "));
    }

    private static String reasons() {
        return Stream.concat(
                        Arrays.stream(PoolReason.values()).map(PoolReason::value), Stream.of("or one of a Sandbox's"))
                .collect(Collectors.joining(", "));
    }
}
