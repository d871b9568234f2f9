package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.CellContract;
import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Resources and completion in both manners of the protocol, from the wire's point of view. */
class ResourceMethodsTest {

    private static final String META = """
            "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
            "io.modelcontextprotocol/clientCapabilities":{}}""";
    private static final String FILE = "sandbox://default/box/a.txt";
    private static final String COMPLETION = """
            "ref":{"type":"ref/prompt","name":"create_node_sandbox"},"argument":{"name":"sandbox_name","value":"b"}""";

    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        gateway = TestGateway.beside(CellContract::new);
        gateway.sandboxes.addRunning("box");
        gateway.supervisor.files.put("a.txt", "hello");
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    private static String message(String method, String params) {
        return """
                {"jsonrpc":"2.0","id":1,"method":"%s","params":{%s}}""".formatted(method, params);
    }

    private static JsonNode legacy(String method, String params) throws Exception {
        return gateway.json(gateway.send(gateway.post(message(method, params))));
    }

    private static HttpResponse<String> modern(String method, String params, String name) throws Exception {
        HttpRequest.Builder request = gateway.post(message(method, params.isEmpty() ? META : META + "," + params))
                .header("MCP-Protocol-Version", "2026-07-28")
                .header("Mcp-Method", method);
        return gateway.send(name.isEmpty() ? request : request.header("Mcp-Name", name));
    }

    private static String uri(String uri) {
        return "\"uri\":\"%s\"".formatted(uri);
    }

    @Test
    void bothMannersSayThatThereAreResourcesAndCompletions() throws Exception {
        JsonNode old =
                legacy("initialize", "\"protocolVersion\":\"2025-11-25\"").at("/result/capabilities");
        JsonNode young = gateway.json(modern("server/discover", "", "")).at("/result/capabilities");

        assertThat(old).isEqualTo(young);
        assertThat(old.path("resources").toString()).isEqualTo("{}");
        assertThat(old.path("completions").toString()).isEqualTo("{}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"resources/list", "resources/templates/list", "resources/read", "completion/complete"})
    void aContractWithoutThemHasNoneOfTheirMethods(String method) throws Exception {
        HttpRequest.Builder request = gateway.post(message(method, uri(FILE) + "," + COMPLETION))
                .uri(URI.create(gateway.base() + "/mcp/cell"));

        JsonNode error = gateway.json(gateway.send(request)).path("error");

        assertThat(error.path("code").asInt()).isEqualTo(-32601);
        assertThat(error.path("message").asString()).isEqualTo("Method '%s' not found".formatted(method));
        JsonNode capabilities = gateway.json(gateway.send(
                        gateway.post(message("initialize", "")).uri(URI.create(gateway.base() + "/mcp/cell"))))
                .at("/result/capabilities");
        assertThat(capabilities.has("tools")).isTrue();
        assertThat(capabilities.has("resources")).isFalse();
        assertThat(capabilities.has("completions")).isFalse();
    }

    @Test
    void theOlderMannerKnowsNothingOfFreshness() throws Exception {
        for (JsonNode answer : new JsonNode[] {
            legacy("resources/list", ""),
            legacy("resources/templates/list", ""),
            legacy("resources/read", uri(FILE)),
            legacy("completion/complete", COMPLETION),
        }) {
            JsonNode result = answer.path("result");
            assertThat(result.isObject()).as(answer.toString()).isTrue();
            assertThat(result.propertyNames()).doesNotContain("resultType", "ttlMs", "cacheScope", "_meta");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "resources/list, 0, private",
        "resources/templates/list, 300000, public",
        "resources/read, 0, private",
    })
    void theNewerMannerSaysForWhomAnAnswerMayBeKept(String method, long ttl, String scope) throws Exception {
        boolean reads = method.equals("resources/read");

        HttpResponse<String> response = modern(method, reads ? uri(FILE) : "", reads ? FILE : "");

        JsonNode result = gateway.json(response).path("result");
        assertThat(result.path("resultType").asString()).isEqualTo("complete");
        assertThat(result.path("ttlMs").asLong(-1)).isEqualTo(ttl);
        assertThat(result.path("cacheScope").asString()).isEqualTo(scope);
        assertThat(result.path("_meta")
                        .path("io.modelcontextprotocol/serverInfo")
                        .isObject())
                .isTrue();
    }

    @Test
    void completionIsNotKept() throws Exception {
        JsonNode result =
                gateway.json(modern("completion/complete", COMPLETION, "")).path("result");

        assertThat(result.propertyNames()).containsExactlyInAnyOrder("resultType", "completion", "_meta");
        assertThat(result.path("completion").toString())
                .isEqualTo("{\"values\":[\"box\"],\"total\":1,\"hasMore\":false}");
    }

    @Test
    void aUriInTheHeaderIsThatOfTheBody() throws Exception {
        assertThat(modern("resources/read", uri(FILE), "").statusCode()).isEqualTo(400);
        assertThat(modern("resources/read", uri(FILE), FILE + "x").statusCode()).isEqualTo(400);
    }

    /** The newer revision gave up the code of its own. */
    @Test
    void whatIsNotThereHasTheCodeOfTheRevision() throws Exception {
        String missing = "sandbox://default/box/missing";
        JsonNode old = legacy("resources/read", uri(missing)).path("error");
        HttpResponse<String> young = modern("resources/read", uri(missing), missing);

        assertThat(old.path("code").asInt()).isEqualTo(-32002);
        assertThat(young.statusCode()).isEqualTo(200);
        JsonNode error = gateway.json(young).path("error");
        assertThat(error.path("code").asInt()).isEqualTo(-32602);
        assertThat(error.path("message")).isEqualTo(old.path("message"));
        assertThat(error.path("data").toString()).isEqualTo("{\"uri\":\"%s\"}".formatted(missing));
        assertThat(old.path("data")).isEqualTo(error.path("data"));
    }

    /** A reading may have to wait for a sandbox that is resumed for it, as a tool call does. */
    @Test
    void aReadingCanBeStreamedAndItsSiblingsCannot() throws Exception {
        String token = "\"_meta\":{\"progressToken\":\"p\"},";

        HttpResponse<String> read = gateway.send(gateway.post(message("resources/read", token + uri(FILE))));
        HttpResponse<String> completed = gateway.send(gateway.post(message("completion/complete", token + COMPLETION)));

        assertThat(read.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/event-stream");
        assertThat(read.body()).contains("\"text\":\"hello\"");
        assertThat(completed.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/json");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "resources/read | ^^ | Missing required 'uri' parameter",
                "resources/read | \"uri\":7 | 'uri' must be a text of at most 16384 characters",
                "resources/read | \"uri\":null | 'uri' must be a text of at most 16384 characters",
                "resources/list | \"cursor\":7 | 'cursor' must be a text of at most 16384 characters",
                "resources/list | \"cursor\":\"x\" | 'cursor' must be a nextCursor that resources/list gave",
                "resources/templates/list | \"cursor\":\"\" | 'cursor' must be left out",
                "completion/complete | ^^ | 'ref.type' must be 'ref/prompt' or 'ref/resource'",
                "completion/complete | \"ref\":{\"type\":\"ref/tool\"} | 'ref.type' must be 'ref/prompt' or 'ref/resource'",
                "completion/complete | \"ref\":{\"type\":\"ref/prompt\"} | Missing required 'ref.name' parameter",
                "completion/complete | \"ref\":{\"type\":\"ref/resource\"} | Missing required 'ref.uri' parameter",
                "completion/complete | \"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"} | Missing required 'argument.name' parameter",
                "completion/complete | \"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"},\"argument\":{\"name\":\"a\"} |"
                        + " Missing required 'argument.value' parameter",
                "completion/complete | \"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"},\"argument\":{\"name\":\"a\",\"value\":\"\"} |"
                        + " Prompt 'x' not found",
                "completion/complete | \"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"},\"argument\":{\"name\":\"a\",\"value\":\"\"},"
                        + "\"context\":{\"arguments\":[]} | 'context.arguments' must be an object of at most 16 texts",
                "completion/complete | \"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"},\"argument\":{\"name\":\"a\",\"value\":\"\"},"
                        + "\"context\":{\"arguments\":{\"a\":1}} | 'context.arguments' must be a text",
            })
    void brokenParametersNameTheRule(String method, String params, String words) throws Exception {
        JsonNode error = legacy(method, params).path("error");

        assertThat(error.path("code").asInt()).isEqualTo(-32602);
        assertThat(error.path("message").asString()).startsWith(words);
    }

    @Test
    void textsAndArgumentsAreBounded() throws Exception {
        String longest = "x".repeat(16 * 1024);
        assertThat(legacy("resources/read", uri(longest)).at("/error/message").asString())
                .startsWith("'uri' must have at most 12544 characters");
        assertThat(legacy("resources/read", uri(longest + "x"))
                        .at("/error/message")
                        .asString())
                .isEqualTo("'uri' must be a text of at most 16384 characters");
        assertThat(legacy("completion/complete", COMPLETION + context(16)).has("result"))
                .isTrue();
        assertThat(legacy("completion/complete", COMPLETION + context(17))
                        .at("/error/message")
                        .asString())
                .isEqualTo("'context.arguments' must be an object of at most 16 texts");
    }

    private static String context(int arguments) {
        StringBuilder all = new StringBuilder("\"a0\":\"\"");
        for (int i = 1; i < arguments; i++) {
            all.append(",\"a%d\":\"\"".formatted(i));
        }
        return ",\"context\":{\"arguments\":{%s}}".formatted(all);
    }
}
