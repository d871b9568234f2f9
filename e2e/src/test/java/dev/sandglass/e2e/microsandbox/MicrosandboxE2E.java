package dev.sandglass.e2e.microsandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What clients of microsandbox's server find at {@code /mcp} (rows M), over plain HTTP: the SDK hides these parts. */
class MicrosandboxE2E {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CALL =
            "{'jsonrpc':'2.0','id':2,'method':'tools/call','params':{'name':'%s','arguments':%s}}";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Installation installation = Installation.current();

    private HttpResponse<String> post(String body) throws IOException, InterruptedException {
        return send(request("/mcp")
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(body.replace('\'', '"'))));
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(installation.endpoint().resolve(path))
                .header("Authorization", "Bearer " + installation.token());
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        try (var client = HttpClient.newHttpClient()) {
            return client.send(request.build(), BodyHandlers.ofString());
        }
    }

    private JsonNode ask(String body) throws IOException, InterruptedException {
        return JSON.readTree(post(body).body());
    }

    /** M1, M3, M42: what Agno, Claude Desktop and programs of their own send, from the first word on. */
    @Test
    void anOlderClientIsServedFromItsHandshakeToItsCall() throws Exception {
        HttpResponse<String> hello = post("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{"
                + "'protocolVersion':'2024-11-05','capabilities':{},'clientInfo':{'name':'e2e','version':'1'}}}");

        assertThat(hello.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("application/json"));
        JsonNode offer = JSON.readTree(hello.body()).path("result");
        assertThat(offer.path("protocolVersion").asText()).isEqualTo("2024-11-05");
        assertThat(offer.path("serverInfo").path("name").asText()).isEqualTo("sandglass");
        assertThat(offer.path("capabilities").has("tools")).isTrue();
        assertThat(offer.path("capabilities").has("prompts")).isTrue();

        HttpResponse<String> ready = post("{'jsonrpc':'2.0','method':'notifications/initialized'}");
        assertThat(ready.statusCode()).isEqualTo(202);
        assertThat(ready.body()).isEmpty();

        assertThat(ask("{'jsonrpc':'2.0','id':2,'method':'tools/list'}")
                        .path("result")
                        .path("tools")
                        .findValuesAsText("name"))
                .contains(
                        "sandbox_start",
                        "sandbox_stop",
                        "sandbox_run_code",
                        "sandbox_run_command",
                        "sandbox_get_metrics");
        String code = "{'sandbox':'%s','namespace':'default','code':'print(6 * 7)','language':'python'}"
                .formatted(SANDBOXES.start());
        assertThat(text(CALL.formatted("sandbox_run_code", code)).strip()).isEqualTo("42");
    }

    private String text(String call) throws Exception {
        JsonNode content = ask(call).path("result").path("content");
        assertThat(content.path(0).path("type").asText()).isEqualTo("text");
        return content.path(0).path("text").asText();
    }

    /** M1: there was no stream of the server's own. */
    @Test
    void noStreamIsOpenedByAGet() throws Exception {
        assertThat(send(request("/mcp").header("Accept", "text/event-stream").GET())
                        .statusCode())
                .isEqualTo(405);
    }

    /** M23, M25: programs read the text as JSON. */
    @Test
    void metricsAreOneTextOfJsonWithTheFieldsOfTheContract() throws Exception {
        String sandbox = SANDBOXES.start();

        String call =
                CALL.formatted("sandbox_get_metrics", "{'sandbox':'%s','namespace':'default'}".formatted(sandbox));
        // The figures are left out when the sandbox does not answer in time.
        JsonNode usage = await("figures")
                .atMost(Duration.ofSeconds(60))
                .until(() -> JSON.readTree(text(call)).path("sandboxes").path(0), told -> told.path("memory_usage")
                        .isNumber());
        assertThat(usage.path("namespace").asText()).isEqualTo("default");
        assertThat(usage.path("name").asText()).isEqualTo(sandbox);
        assertThat(usage.path("running").asBoolean()).isTrue();
        assertThat(usage.has("cpu_usage")).isTrue();
        assertThat(usage.path("memory_usage").asDouble()).as("MiB").isBetween(1.0, 512.0);
        assertThat(usage.path("disk_usage").isIntegralNumber()).isTrue();
    }

    /** M24, M32. */
    @ParameterizedTest
    @CsvSource({"create_python_sandbox, microsandbox/python", "create_node_sandbox, microsandbox/node"})
    void aPromptAsksForASandbox(String prompt, String image) throws Exception {
        assertThat(ask("{'jsonrpc':'2.0','id':1,'method':'prompts/list'}")
                        .path("result")
                        .path("prompts")
                        .findValuesAsText("name"))
                .contains(prompt);
        JsonNode message = ask(("{'jsonrpc':'2.0','id':1,'method':'prompts/get','params':{'name':'%s',"
                                + "'arguments':{'sandbox_name':'box','namespace':'default'}}}")
                        .formatted(prompt))
                .path("result")
                .path("messages")
                .path(0);
        assertThat(message.path("role").asText()).isEqualTo("user");
        assertThat(message.path("content").path("text").asText())
                .contains("'box'", "'default'", image, "512 MiB", "1 CPU", "workspace");
    }

    /** M4, M31, M32, M34: -32603 of the server before us is what JSON-RPC has for each case. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{'jsonrpc': | -32700 | Parse error",
                "{'id':1,'method':'ping'} | -32600 | jsonrpc",
                "{'jsonrpc':'2.0','id':1,'method':'no/such'} | -32601 | no/such",
                "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'arguments':{}}} | -32602 |"
                        + " Missing required 'name' parameter",
                "{'jsonrpc':'2.0','id':1,'method':'tools/call','params':{'name':'sandbox_fly'}} | -32602 |"
                        + " Tool 'sandbox_fly' not found",
                "{'jsonrpc':'2.0','id':1,'method':'prompts/get','params':{'name':'fly'}} | -32602 |"
                        + " Prompt 'fly' not found",
            })
    void brokenMessagesHaveTheCodesOfJsonRpc(String body, int code, String words) throws Exception {
        JsonNode error = ask(body).path("error");

        assertThat(error.path("code").asInt()).isEqualTo(code);
        assertThat(error.path("message").asText()).contains(words);
    }

    /** M40, M35: health stays, in another place; what stood beside MCP is gone. */
    @Test
    void healthIsToldWithoutAKeyAndNothingElseStandsBesideMcp() throws Exception {
        var health = HttpRequest.newBuilder(installation.endpoint().resolve("/healthz"));

        assertThat(send(health).body()).isEqualTo("ok\n");
        assertThat(send(request("/api/v1/rpc").POST(HttpRequest.BodyPublishers.ofString("{}")))
                        .statusCode())
                .isEqualTo(404);
    }

    /** M41: what the manual told agents, they are told by the server itself. */
    @Test
    void agentsAreToldToStopTheirSandboxes() throws Exception {
        JsonNode offer = ask("{'jsonrpc':'2.0','id':1,'method':'initialize','params':{"
                        + "'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'e2e','version':'1'}}}")
                .path("result");

        assertThat(offer.path("instructions").asText()).contains("Call sandbox_stop when done");
    }
}
