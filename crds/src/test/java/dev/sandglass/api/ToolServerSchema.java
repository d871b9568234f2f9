package dev.sandglass.api;

import static dev.sandglass.api.SchemaParts.byKey;
import static dev.sandglass.api.SchemaParts.describe;
import static dev.sandglass.api.SchemaParts.field;
import static dev.sandglass.api.SchemaParts.oneOf;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxSelector;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.api.toolserver.ToolRules;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.api.toolserver.ToolServerReason;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the annotations of {@link dev.sandglass.api.toolserver.SandboxToolServer} cannot say. */
final class ToolServerSchema {

    private ToolServerSchema() {}

    static void complete(JSONSchemaProps root) {
        root.setDescription(
                "An MCP server whose tools the code in the namespace's sandboxes calls as functions. It runs in"
                        + " the pod of a Sandbox that the operator makes for it.");
        root.setRequired(List.of("spec"));
        JSONSchemaProps spec =
                describe(root, "spec", "How the server is started or reached, and who may call which of its tools.");
        SchemaParts.domains(field(spec, "allowedDomains"));
        // Defaults inside an absent object do not apply, hence the empty one.
        field(spec, "limits").setDefault(JsonNodeFactory.instance.objectNode());
        stdio(field(spec, "stdio"));
        JSONSchemaProps http = field(spec, "http");
        byKey(field(http, "headers"), "name");
        oneOf(field(http, "transport"), HttpServer.STREAMABLE_HTTP, HttpServer.SSE);
        for (String list : List.of("allow", "deny", "ask")) {
            texts(field(field(spec, "tools"), list), 1L, ToolRules.MAX_ENTRY, ToolRules.ENTRY_PATTERN);
        }
        selector(field(spec, "sandboxSelector"));
        SchemaParts.conditions(
                describe(root, "status", "State of the tool server; only the operator writes it."), types(), reasons());
    }

    private static void stdio(JSONSchemaProps stdio) {
        byKey(field(stdio, "env"), "name");
        texts(field(stdio, "args"), null, StdioServer.MAX_ARG, StdioServer.ARG_PATTERN);
    }

    private static void selector(JSONSchemaProps selector) {
        // One decision of one author, as Kubernetes has its own selectors.
        selector.setXKubernetesMapType("atomic");
        JSONSchemaProps labels = field(selector, "matchLabels");
        labels.setMaxProperties((long) SandboxSelector.MAX_ENTRIES);
        bounded(
                labels.getAdditionalProperties().getSchema(),
                null,
                SandboxSelector.MAX_VALUE,
                SandboxSelector.VALUE_PATTERN);
        JSONSchemaProps requirement =
                field(selector, "matchExpressions").getItems().getSchema();
        oneOf(field(requirement, "operator"), "In", "NotIn", "Exists", "DoesNotExist");
        texts(field(requirement, "values"), null, SandboxSelector.MAX_VALUE, SandboxSelector.VALUE_PATTERN);
    }

    private static void texts(JSONSchemaProps list, @Nullable Long least, int most, String pattern) {
        list.setXKubernetesListType("atomic");
        bounded(list.getItems().getSchema(), least, most, pattern);
    }

    private static void bounded(JSONSchemaProps text, @Nullable Long least, int most, String pattern) {
        text.setMinLength(least);
        text.setMaxLength((long) most);
        text.setPattern(pattern);
    }

    private static String types() {
        return Arrays.stream(ToolServerCondition.values())
                .map(known -> known.value() + " - " + known.meaning())
                .collect(Collectors.joining(" "));
    }

    private static String reasons() {
        return Stream.concat(
                        Arrays.stream(ToolServerReason.values()).map(ToolServerReason::value),
                        Stream.of("or one of the Sandbox's"))
                .collect(Collectors.joining(", "));
    }
}
