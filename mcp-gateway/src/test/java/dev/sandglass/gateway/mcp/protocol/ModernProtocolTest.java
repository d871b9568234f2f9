package dev.sandglass.gateway.mcp.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.TestGateway;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Revision 2026-07-28 over real HTTP, from the wire's point of view. */
class ModernProtocolTest {

    private static final String META = """
            "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
            "io.modelcontextprotocol/clientCapabilities":{}}""";

    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterAll
    static void stop() {
        gateway.close();
    }

    private static String message(String method, String params) {
        return """
                {"jsonrpc":"2.0","id":"a-1","method":"%s","params":{%s}}""".formatted(method, params);
    }

    private static HttpRequest.Builder modern(String method, String params) {
        return gateway.post(message(method, params))
                .header("MCP-Protocol-Version", "2026-07-28")
                .header("Mcp-Method", method);
    }

    @Test
    void discoverTellsVersionsAndWhoAnswers() throws Exception {
        HttpResponse<String> response = gateway.send(modern("server/discover", META));

        assertThat(response.statusCode()).isEqualTo(200);
        JsonNode result = gateway.json(response).path("result");
        assertThat(result.path("resultType").asString()).isEqualTo("complete");
        assertThat(result.path("supportedVersions").path(0).asString()).isEqualTo("2026-07-28");
        assertThat(result.path("supportedVersions").size()).isEqualTo(5);
        assertThat(result.path("capabilities").path("tools").isObject()).isTrue();
        assertThat(result.path("ttlMs").asLong()).isPositive();
        assertThat(result.path("cacheScope").asString()).isEqualTo("public");
        assertThat(result.path("_meta")
                        .path("io.modelcontextprotocol/serverInfo")
                        .path("name")
                        .asString())
                .isEqualTo("sandglass");
    }

    @Test
    void listsCarryFreshnessAndAStableOrder() throws Exception {
        JsonNode first = gateway.json(gateway.send(modern("tools/list", META))).path("result");
        JsonNode second = gateway.json(gateway.send(modern("tools/list", META))).path("result");

        assertThat(first).isEqualTo(second);
        assertThat(first.path("tools").values())
                .extracting(tool -> tool.path("name").asString())
                .startsWith("sandbox_start", "sandbox_stop", "sandbox_run_code", "sandbox_run_command");
        assertThat(first.path("ttlMs").asLong()).isPositive();
        assertThat(first.path("cacheScope").asString()).isEqualTo("public");
        JsonNode prompts =
                gateway.json(gateway.send(modern("prompts/list", META))).path("result");
        assertThat(prompts.path("ttlMs").asLong()).isPositive();
        assertThat(prompts.path("resultType").asString()).isEqualTo("complete");
    }

    @Test
    void aCallIsAnsweredWithTheIdOfTheRequest() throws Exception {
        String params =
                META + ",\"name\":\"sandbox_run_code\",\"arguments\":{\"sandbox\":\"box\",\"code\":\"print hello\"}";

        HttpResponse<String> response =
                gateway.send(modern("tools/call", params).header("Mcp-Name", "sandbox_run_code"));

        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
        JsonNode answer = gateway.json(response);
        assertThat(answer.path("id").asString()).isEqualTo("a-1");
        assertThat(answer.path("result").path("resultType").asString()).isEqualTo("complete");
        assertThat(TestGateway.text(answer.path("result"))).isEqualTo("hello");
    }

    @Test
    void anEncodedNameIsDecodedBeforeItIsCompared() throws Exception {
        String params =
                META + ",\"name\":\"sandbox_run_code\",\"arguments\":{\"sandbox\":\"box\",\"code\":\"print x\"}";

        HttpResponse<String> response =
                gateway.send(modern("tools/call", params).header("Mcp-Name", "=?base64?c2FuZGJveF9ydW5fY29kZQ==?="));

        assertThat(response.statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource({
        "tools/list, prompts/list, '', 2026-07-28",
        "tools/call, tools/call, sandbox_stop, 2026-07-28",
        "tools/call, tools/call, '', 2026-07-28",
        "tools/call, tools/call, =?base64?***?=, 2026-07-28",
        "tools/list, '', '', 2026-07-28",
        "tools/list, tools/list, '', 2025-11-25",
        "tools/list, tools/list, '', ''",
    })
    void headersThatDoNotMatchTheBodyAreRefused(String method, String methodHeader, String name, String version)
            throws Exception {
        HttpRequest.Builder request = gateway.post(message(method, META + ",\"name\":\"sandbox_run_code\""));
        header(request, "Mcp-Method", methodHeader);
        header(request, "Mcp-Name", name);
        header(request, "MCP-Protocol-Version", version);

        HttpResponse<String> response = gateway.send(request);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(code(response)).isEqualTo(-32020);
        assertThat(gateway.json(response).path("id").asString()).isEqualTo("a-1");
    }

    private static void header(HttpRequest.Builder request, String name, String value) {
        if (!value.isEmpty()) {
            request.header(name, value);
        }
    }

    @Test
    void anUnknownVersionIsRefusedWithTheKnownOnes() throws Exception {
        String params = META.replace("2026-07-28", "1999-01-01");

        HttpResponse<String> response = gateway.send(gateway.post(message("tools/list", params))
                .header("MCP-Protocol-Version", "1999-01-01")
                .header("Mcp-Method", "tools/list"));

        assertThat(response.statusCode()).isEqualTo(400);
        JsonNode error = gateway.json(response).path("error");
        assertThat(error.path("code").asInt()).isEqualTo(-32022);
        assertThat(error.path("data").path("supported").path(0).asString()).isEqualTo("2026-07-28");
        assertThat(error.path("data").path("requested").asString()).isEqualTo("1999-01-01");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''",
                "'\"_meta\":{\"io.modelcontextprotocol/clientCapabilities\":{}}'",
                "'\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}'",
                "'\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":7,"
                        + "\"io.modelcontextprotocol/clientCapabilities\":{}}'",
            })
    void missingMetaIsAMalformedRequest(String meta) throws Exception {
        HttpResponse<String> response = gateway.send(modern("tools/list", meta));

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(code(response)).isEqualTo(-32602);
    }

    @ParameterizedTest
    @CsvSource({"ping", "initialize", "logging/setLevel", "resources/subscribe", "subscriptions/listen", "nonsense"})
    void unknownMethodsAreNotFound(String method) throws Exception {
        HttpResponse<String> response = gateway.send(modern(method, META));

        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(code(response)).isEqualTo(-32601);
        assertThat(gateway.json(response).path("id").asString()).isEqualTo("a-1");
    }

    @ParameterizedTest
    @CsvSource({"GET", "DELETE", "PUT"})
    void onlyPostIsServed(String method) throws Exception {
        HttpResponse<String> response =
                gateway.send(gateway.post("").method(method, HttpRequest.BodyPublishers.noBody()));

        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow")).contains("POST");
    }

    private static int code(HttpResponse<String> response) {
        return gateway.json(response).path("error").path("code").asInt();
    }
}
