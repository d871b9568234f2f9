package dev.sandglass.gateway.conformance;

import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The tools that the suite calls. */
final class ConformanceTools {

    private static final ToolResult DONE = ToolResult.ok("Done.", Map.of());

    /** The first is the one whose header {@code Mcp-Name} the suite tries in many ways. */
    static final List<Tool> ALL = List.of(
            tool("test_simple_text", _ -> Mono.just(text("This is a simple text response for testing."))),
            tool(
                    "test_image_content",
                    _ -> Mono.just(result(new ToolResult.Content.Image("image/png", ConformanceContract.PICTURE)))),
            tool(
                    "test_error_handling",
                    _ -> Mono.just(ToolResult.error("This tool intentionally returns an error for testing", "error"))),
            tool("test_tool_with_progress", ConformanceTools::progress),
            // What these two must not do, a tool of ours cannot do: ask the client, and log to it.
            tool("test_streaming_elicitation", _ -> Mono.just(DONE)),
            tool("test_logging_tool", _ -> Mono.just(DONE)),
            new Fixture(definition("json_schema_2020_12_tool", richSchema()), _ -> Mono.just(DONE)));

    private ConformanceTools() {}

    private static Tool tool(String name, Function<ToolCall, Mono<ToolResult>> work) {
        return new Fixture(definition(name, Schema.object().keywords()), work);
    }

    private static ToolDefinition definition(String name, Map<String, Object> inputSchema) {
        return new ToolDefinition(
                name, name, "A fixture of the conformance suite.", inputSchema, null, ToolDefinition.Annotations.READS);
    }

    private static ToolResult text(String text) {
        return result(new ToolResult.Content.Text(text));
    }

    private static ToolResult result(ToolResult.Content content) {
        return new ToolResult(List.of(content), null, false, "ok", null);
    }

    /** Three pieces, each after the one before it was sent, as the output of code is. */
    private static Mono<ToolResult> progress(ToolCall call) {
        return Flux.just(1, 50, 100)
                .concatMap(
                        sofar -> Mono.fromCompletionStage(() -> call.progress().output(sofar, sofar + " of 100\n")))
                .then(Mono.just(DONE));
    }

    /** Keywords of JSON Schema 2020-12 beyond those that our own tools use. */
    private static Map<String, Object> richSchema() {
        Map<String, Object> anyText = Map.of("type", "string");
        Map<String, Object> needsPhone = Map.of("required", List.of("phone"));
        Map<String, Object> needsEmail = Map.of("required", List.of("email"));
        return Map.ofEntries(
                Map.entry("$schema", "https://json-schema.org/draft/2020-12/schema"),
                Map.entry("type", "object"),
                Map.entry(
                        "$defs",
                        Map.of(
                                "address",
                                Map.of(
                                        "$anchor",
                                        "addressDef",
                                        "type",
                                        "object",
                                        "properties",
                                        Map.of("street", anyText, "city", anyText)))),
                Map.entry(
                        "properties",
                        Map.of(
                                "name",
                                anyText,
                                "address",
                                Map.of("$ref", "#/$defs/address"),
                                "contactMethod",
                                Map.of("type", "string", "enum", List.of("phone", "email")),
                                "phone",
                                anyText,
                                "email",
                                anyText)),
                Map.entry("allOf", List.of(Map.of("anyOf", List.of(needsPhone, needsEmail)))),
                Map.entry(
                        "if",
                        Map.of(
                                "properties",
                                Map.of("contactMethod", Map.of("const", "phone")),
                                "required",
                                List.of("contactMethod"))),
                Map.entry("then", needsPhone),
                Map.entry("else", needsEmail),
                Map.entry("additionalProperties", false));
    }

    private record Fixture(ToolDefinition definition, Function<ToolCall, Mono<ToolResult>> work) implements Tool {
        @Override
        public Mono<ToolResult> call(ToolCall call) {
            return work.apply(call);
        }
    }
}
