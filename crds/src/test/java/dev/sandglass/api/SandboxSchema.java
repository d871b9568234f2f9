package dev.sandglass.api;

import static dev.sandglass.api.SchemaParts.byKey;
import static dev.sandglass.api.SchemaParts.describe;
import static dev.sandglass.api.SchemaParts.field;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What the annotations of {@link Sandbox} cannot say. */
final class SandboxSchema {

    private SandboxSchema() {}

    static void complete(JSONSchemaProps root) {
        root.setDescription(
                "An isolated environment in which an agent's code runs. Its pods come and go (incarnations); the"
                        + " sandbox stays until it is deleted.");
        JSONSchemaProps spec =
                describe(root, "spec", "What the sandbox must be like; without it every default applies.");
        // Defaults inside an absent object do not apply, hence the empty one.
        spec.setDefault(JsonNodeFactory.instance.objectNode());
        byKey(field(spec, "env"), "name");
        byKey(field(spec, "volumes"), "name");
        byKey(field(spec, "ports"), "port");
        SchemaParts.domains(field(spec, "allowedDomains"));
        JSONSchemaProps status = describe(root, "status", "State of the sandbox; only the operator writes it.");
        SchemaParts.conditions(
                status,
                Arrays.stream(ConditionType.values())
                        .map(known -> known.value() + " - " + known.meaning())
                        .collect(Collectors.joining(" ")),
                Arrays.stream(Reason.values()).map(Reason::value).collect(Collectors.joining(", ")));
        List.of("startedAt", "suspendedAt", "expiresAt")
                .forEach(instant -> field(status, instant).setFormat("date-time"));
    }
}
