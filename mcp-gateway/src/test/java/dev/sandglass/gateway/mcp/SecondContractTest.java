package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.CellContract;
import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Another contract beside ours over real HTTP: its own name, tools and texts, the same use cases and protocol. */
@SuppressWarnings("NullAway.Init")
class SecondContractTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String LIST = """
            {"jsonrpc":"2.0","id":1,"method":"%s","params":{}}""";

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.beside(CellContract::new);
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private HttpRequest.Builder post(String path, String body) {
        return gateway.post(body).uri(URI.create(gateway.base() + path));
    }

    private JsonNode ask(String path, String body) throws Exception {
        return gateway.json(gateway.send(post(path, body)));
    }

    private List<String> names(String path, String method) throws Exception {
        return ask(path, LIST.formatted(method))
                .path("result")
                .path(method.substring(0, method.indexOf('/')))
                .valueStream()
                .map(each -> each.path("name").asString())
                .toList();
    }

    private static String cell(String code) {
        return TestGateway.toolCall(CellContract.TOOL, "{\"code\":\"%s\"}".formatted(code));
    }

    @ParameterizedTest
    @CsvSource({"/mcp, sandglass, Sandglass, Runs code in isolated", "/mcp/cell, cells, Cells, Runs one cell."})
    void eachSaysWhoItIs(String path, String name, String title, String instructions) throws Exception {
        JsonNode result = ask(path, """
                {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},\
                "clientInfo":{"name":"t","version":"1"}}}""").path("result");

        assertThat(result.path("serverInfo").path("name").asString()).isEqualTo(name);
        assertThat(result.path("serverInfo").path("title").asString()).isEqualTo(title);
        assertThat(result.path("serverInfo").path("version").asString()).isEqualTo("test");
        assertThat(result.path("instructions").asString()).startsWith(instructions);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/mcp | {\"tools\":{\"listChanged\":false},\"prompts\":{\"listChanged\":false},\"resources\":{},\"completions\":{}}",
                "/mcp/cell | {\"tools\":{\"listChanged\":false}}"
            })
    void eachDeclaresWhatItHas(String path, String capabilities) throws Exception {
        JsonNode result = ask(path, """
                {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},\
                "clientInfo":{"name":"t","version":"1"}}}""").path("result");

        assertThat(result.path("capabilities").toString()).isEqualTo(capabilities);
    }

    @Test
    void callsAreCountedByContract() throws Exception {
        ask("/mcp/cell", cell("print 42"));

        await().untilAsserted(() -> assertThat(gateway.meters
                        .find("sandglass.tool.calls")
                        .tags("contract", "cell", "tool", CellContract.TOOL, "outcome", "ok")
                        .timer())
                .isNotNull());
        assertThat(gateway.meters
                        .find("sandglass.tool.calls")
                        .tags("contract", "sandglass", "tool", CellContract.TOOL)
                        .timers())
                .isEmpty();
    }

    @Test
    void eachHasItsOwnToolsAndPrompts() throws Exception {
        assertThat(names("/mcp/cell", "tools/list")).containsExactly(CellContract.TOOL);
        assertThat(names("/mcp", "tools/list")).hasSize(15).doesNotContain(CellContract.TOOL);
        assertThat(names("/mcp", "prompts/list")).hasSize(2);

        assertThat(ask("/mcp", cell("print x")).at("/error/message").asString())
                .isEqualTo("Tool 'execute_cell' not found");
        assertThat(ask("/mcp/cell", TestGateway.toolCall("sandbox_list", "{}"))
                        .at("/error/message")
                        .asString())
                .isEqualTo("Tool 'sandbox_list' not found");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "prompts/list",
                "prompts/get",
                "resources/list",
                "resources/templates/list",
                "resources/read",
                "completion/complete"
            })
    void whatItDoesNotDeclareItDoesNotAnswer(String method) throws Exception {
        assertThat(ask("/mcp/cell", LIST.formatted(method)).at("/error/code").asInt())
                .isEqualTo(-32601);
    }

    @Test
    void theSameUseCaseAnswersInItsWords() throws Exception {
        JsonNode result = ask("/mcp/cell", cell("print 42")).path("result");

        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(result.has("structuredContent")).isFalse();
        assertThat(TestGateway.text(result)).isEqualTo("Out: 42");

        var box = new SandboxRef("default", "sandglass-default", "box", "box");
        gateway.sandboxes.put(new SandboxState.Asleep(box, "uid-box", "Idle"));
        assertThat(TestGateway.text(ask("/mcp/cell", cell("print 43")).path("result")))
                .isEqualTo("(was away: Idle) Out: 43");
    }

    @Test
    void whatIsRefusedIsSaidInItsWords() throws Exception {
        JsonNode missing = ask("/mcp/cell?sandbox=none", cell("print 42")).path("result");
        assertThat(missing.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(missing)).isEqualTo("No output: Sandbox 'none' not found in namespace 'default'.");

        JsonNode unknown = ask("/mcp/cell", TestGateway.toolCall(CellContract.TOOL, "{\"cell\":\"1\"}"));
        assertThat(TestGateway.text(unknown.path("result")))
                .startsWith("No output: 'cell' is not known; known are code");
    }

    @Test
    void theQueryBelongsToTheContract() throws Exception {
        gateway.sandboxes.addRunning("other");
        JsonNode tools = ask("/mcp/cell/?sandbox=other", LIST.formatted("tools/list"));
        assertThat(tools.at("/result/tools/0/description").asString()).isEqualTo("Runs a cell in other.");

        HttpResponse<String> odd = gateway.send(post("/mcp/cell?sandbox=a&sandbox=b", cell("print x")));
        assertThat(odd.statusCode()).isEqualTo(400);
        assertThat(gateway.json(odd).at("/error/message").asString()).contains("'sandbox' in the URL must be one name");

        // That one is ours alone.
        assertThat(gateway.send(post("/mcp/cell?wait=soon", cell("print x"))).statusCode())
                .isEqualTo(200);
        assertThat(gateway.send(post("/mcp?wait=soon", LIST.formatted("tools/list")))
                        .statusCode())
                .isEqualTo(400);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/mcp/other", "/mcp/cell/x", "/mcp/Cell", "/cell"})
    void whereThereIsNoneNothingIsFound(String path) throws Exception {
        assertThat(gateway.send(post(path, cell("print x"))).statusCode()).isEqualTo(404);
    }

    @Test
    void theSameCredentialsAreAskedFor() throws Exception {
        HttpRequest.Builder stranger =
                post("/mcp/cell", cell("print x")).setHeader("Authorization", "Bearer " + "key-of-mallory");
        assertThat(gateway.send(stranger).statusCode()).isEqualTo(401);
    }

    /** One program may have a request 7 at each of two contracts. */
    @Test
    void aCancellationMeansACallOfItsOwnContract() throws Exception {
        String cancel = """
                {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}""";
        try (HttpClient client = HttpClient.newHttpClient()) {
            var call = client.sendAsync(post("/mcp/cell", cell("hang")).build(), HttpResponse.BodyHandlers.ofString());
            await().atMost(SOON).until(() -> !gateway.supervisor.verbs.isEmpty());

            assertThat(gateway.send(post("/mcp", cancel)).statusCode()).isEqualTo(202);
            assertThat(gateway.supervisor.interrupted()).isEmpty();
            assertThat(gateway.send(post("/mcp/cell", cancel)).statusCode()).isEqualTo(202);

            await().atMost(SOON).until(() -> gateway.supervisor.interrupted().size() == 1);
            assertThat(call).succeedsWithin(SOON);
        }
    }
}
