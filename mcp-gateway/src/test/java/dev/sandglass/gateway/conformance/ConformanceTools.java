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

    private static final Map<String, Object> ANY_TEXT = Map.of("type", "string");

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
        Map<String, Object> needsPhone = Map.of("required", List.of("phone"));
        Map<String, Object> needsEmail = Map.of("required", List.of("email"));
        Map<String, Object> byPhone = Map.of(
                "properties", Map.of("contactMethod", Map.of("const", "phone")), "required", List.of("contactMethod"));
        return Map.of(
                "$schema",
                "https://json-schema.org/draft/2020-12/schema",
                "type",
                "object",
                "$defs",
                Map.of("address", address()),
                "properties",
                contact(),
                "allOf",
                List.of(Map.of("anyOf", List.of(needsPhone, needsEmail))),
                "if",
                byPhone,
                "then",
                needsPhone,
                "else",
                needsEmail,
                "additionalProperties",
                false);
    }

    private static Map<String, Object> address() {
        Map<String, Object> lines = Map.of("street", ANY_TEXT, "city", ANY_TEXT);
        return Map.of("$anchor", "addressDef", "type", "object", "properties", lines);
    }

    private static Map<String, Object> contact() {
        Map<String, Object> method = Map.of("type", "string", "enum", List.of("phone", "email"));
        Map<String, Object> address = Map.of("$ref", "#/$defs/address");
        return Map.of(
                "name", ANY_TEXT, "address", address, "contactMethod", method, "phone", ANY_TEXT, "email", ANY_TEXT);
    }

    private record Fixture(ToolDefinition definition, Function<ToolCall, Mono<ToolResult>> work) implements Tool {
        @Override
        public Mono<ToolResult> call(ToolCall call) {
            return work.apply(call);
        }
    }
}
