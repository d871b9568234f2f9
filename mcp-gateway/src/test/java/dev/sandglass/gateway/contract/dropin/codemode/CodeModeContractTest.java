package dev.sandglass.gateway.contract.dropin.codemode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The rows X2 and X7 to X12 of the contracts at {@code /mcp/code-mode}, before a stand-in for the supervisor. */
@SuppressWarnings("NullAway.Init")
class CodeModeContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private EndpointClient at(String more) {
        return EndpointClient.of(gateway, "/mcp/code-mode?sandbox=box" + more);
    }

    private JsonNode run(String arguments) throws Exception {
        return at("").call("run_python", arguments);
    }

    private JsonNode data(String arguments) throws Exception {
        return at("&structured=true").call("run_python", arguments).path("structuredContent");
    }

    private List<Verb.Execute> executed() {
        return gateway.supervisor.verbs.stream()
                .filter(Verb.Execute.class::isInstance)
                .map(Verb.Execute.class::cast)
                .toList();
    }

    private List<String> closed() {
        return gateway.supervisor.verbs.stream()
                .filter(Verb.Close.class::isInstance)
                .map(verb -> ((Verb.Close) verb).session())
                .toList();
    }

    @Test
    void x2OneToolAndItsParameters() throws Exception {
        var answer = at("").send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
        JsonNode tools = gateway.json(answer).at("/result/tools");

        assertThat(tools.size()).isEqualTo(1);
        assertThat(tools.at("/0/name").asString()).isEqualTo("run_python");
        assertThat(tools.at("/0/inputSchema/properties").propertyNames()).containsExactly("code", "servers", "timeout");
        assertThat(tools.at("/0/inputSchema/required").toString()).isEqualTo("[\"code\"]");
        assertThat(answer.body()).doesNotContain("sandbox_");
    }

    @ParameterizedTest
    @CsvSource({", 30", "1, 1", "0, 1", "-5, 1", "120, 120", "121, 120", "2000000000, 120", "7.0, 7"})
    void x2TheTimeoutIsClamped(String given, long seconds) throws Exception {
        run(given == null ? "{'code':'print 1'}" : "{'code':'print 1','timeout':%s}".formatted(given));
        assertThat(executed().getFirst().timeout().toSeconds()).isEqualTo(seconds);
    }

    @Test
    void x7EachCallHasAKernelOfItsOwnThatEndsWithIt() throws Exception {
        run("{'code':'print 1'}");
        run("{'code':'raise'}");

        List<String> sessions = executed().stream().map(Verb.Execute::session).toList();
        assertThat(sessions).hasSize(2).doesNotHaveDuplicates().doesNotContain("default");
        assertThat(closed()).containsExactlyElementsOf(sessions);
        assertThat(executed()).allMatch(Verb.Execute::fresh, "a kernel that waits may serve it");
    }

    @Test
    void x7TheKernelEndsAlsoIfTheClientGoes() throws Exception {
        String cancel = """
                {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}""";
        try (HttpClient client = HttpClient.newHttpClient()) {
            var request = gateway.post(TestGateway.toolCall("run_python", "{\"code\":\"hang\"}"))
                    .uri(URI.create(gateway.base() + "/mcp/code-mode?sandbox=box"));
            var call = client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
            await().until(() -> !executed().isEmpty());
            at("").send(cancel);
            call.get();
        }
        await().until(() -> closed().size() == 1);
        assertThat(gateway.supervisor.interrupted()).hasSize(1);
    }

    @Test
    void x8X9CompactIsTheOutputAlone() throws Exception {
        JsonNode result = run("{'code':'print 42'}");
        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(result.has("structuredContent")).isFalse();
        assertThat(TestGateway.text(result)).isEqualTo("42");
        assertThat(TestGateway.text(run("{'code':'pass'}"))).isEqualTo("Success (no output)");
    }

    @Test
    void x8X9TheSameAsData() throws Exception {
        assertThat(data("{'code':'print 42'}").toString())
                .isEqualTo(
                        "{\"status\":\"success\",\"summary\":\"Success\",\"exitCode\":0,\"stdout\":[\"42\"],\"stderr\":[]}");
    }

    @Test
    void x8TheSameAsABlockOfJson() throws Exception {
        String text = TestGateway.text(at("&output=json").call("run_python", "{'code':'print ```x'}"));

        assertThat(text).startsWith("```json\n{").endsWith("}\n```");
        String inner = text.substring(8, text.length() - 4);
        assertThat(inner).doesNotContain("`");
        assertThat(JsonMapper.shared().readTree(inner).at("/stdout/0").asString())
                .isEqualTo("```x");
    }

    @Test
    void x8TheSameAsABlockOfToon() throws Exception {
        assertThat(TestGateway.text(at("&output=toon").call("run_python", "{'code':'print 42: ```x'}")))
                .isEqualTo("```toon\nstatus: success\nsummary: Success\nexitCode: 0\n"
                        + "stdout[1]: \"42: \\u0060\\u0060\\u0060x\"\nstderr[0]:\n```");
        assertThat(TestGateway.text(at("&output=toon").call("run_python", "{'code':' '}")))
                .startsWith("```toon\nstatus: validation_error\nsummary: Missing 'code' argument\n");
    }

    @ParameterizedTest
    @CsvSource({"compact, 200", "json, 200", "toon, 200", "'', 400", "yaml, 400", "json&output=toon, 400"})
    void x8TheFormsOfOutput(String form, int status) throws Exception {
        assertThat(at("&output=" + form)
                        .answer("run_python", "{'code':'print 1'}")
                        .statusCode())
                .isEqualTo(status);
    }

    @Test
    void x10AnExceptionIsAnErrorWithItsTraceback() throws Exception {
        JsonNode result = run("{'code':'raise'}");
        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result))
                .isEqualTo("[error] Sandbox error: Sandbox exited with code 1\nstderr:\nTraceback");

        JsonNode facts = data("{'code':'raise'}");
        assertThat(facts.path("status").asString()).isEqualTo("error");
        assertThat(facts.path("exitCode").asInt()).isEqualTo(1);
        assertThat(facts.path("error").asString()).isEqualTo("Sandbox exited with code 1");
        assertThat(facts.at("/stderr/0").asString()).isEqualTo("Traceback");
    }

    @Test
    void x10AnUnknownToolIsAnErrorOfTheProtocol() throws Exception {
        assertThat(gateway.json(at("").answer("run_bash", "{}"))
                        .at("/error/message")
                        .asString())
                .isEqualTo("Tool 'run_bash' not found");
    }

    @Test
    void x10WhatIsRefusedIsAnError() throws Exception {
        JsonNode facts = EndpointClient.of(gateway, "/mcp/code-mode?sandbox=box&namespace=other&structured=true")
                .call("run_python", "{'code':'print 1'}")
                .path("structuredContent");
        assertThat(facts.path("status").asString()).isEqualTo("error");
        assertThat(facts.path("summary").asString())
                .startsWith("Unexpected failure: Namespace 'other' does not exist.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "{} | Missing 'code' argument",
                "{'code':''} | Missing 'code' argument",
                "{'code':' \\n'} | Missing 'code' argument",
                "{'code':'1','servers':{'a':1}} | 'servers' must be a list",
                "{'code':'1','servers':[1]} | 'servers' must be a list",
                "{'code':'1','timeout':'soon'} | 'timeout' must be an integer",
                "{'code':'1','timeout':1.5} | 'timeout' must be an integer",
                "{'code':'1','servers':['1','2','3','4','5','6','7','8','9','a','b','c','d','e','f','g','h']}"
                        + " | 'servers' must have at most 16 names",
            })
    void x11BrokenArgumentsAreValidationErrors(String arguments, String why) throws Exception {
        JsonNode facts = data(arguments);
        assertThat(facts.path("status").asString()).isEqualTo("validation_error");
        assertThat(facts.path("summary").asString()).isEqualTo(why);
        assertThat(facts.path("error").asString()).isEqualTo(why);

        JsonNode compact = run(arguments);
        assertThat(compact.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(compact)).isEqualTo("[validation_error] " + why);
        assertThat(executed()).isEmpty();
    }

    @Test
    void x2TheCodeGetsTheServersThatAreNamed() throws Exception {
        run("{'code':'print 42','servers':['github','clock']}");
        assertThat(executed().getLast().servers()).containsExactly("github", "clock");
        assertThat(data("{'code':'print 42','servers':['github']}")
                        .at("/servers/0")
                        .asString())
                .isEqualTo("github");
        run("{'code':'print 42'}");
        assertThat(executed().getLast().servers()).isEmpty();
    }

    @Test
    void x11AServerThatIsNotThereIsAValidationError() throws Exception {
        gateway.supervisor.failure = new LinkException(
                LinkException.Kind.REFUSED,
                "no_server",
                "there is no MCP server 'x' in this sandbox; registered are: github");
        JsonNode facts = data("{'code':'1','servers':['x']}");
        assertThat(facts.path("status").asString()).isEqualTo("validation_error");
        assertThat(facts.path("error").asString())
                .isEqualTo(
                        "The sandbox refused this: there is no MCP server 'x' in this sandbox; registered are: github.");
    }

    @Test
    void aSessionOfMcpIsASandbox() throws Exception {
        EndpointClient client =
                EndpointClient.of(gateway, "/mcp/code-mode?memory=1Gi").initialized();
        String id = client.session().orElseThrow();

        assertThat(TestGateway.text(client.call("run_python", "{'code':'print 42'}")))
                .isEqualTo("42");
        assertThat(id).matches("code-mode-[a-z2-7]{48}");
        assertThat(gateway.sandboxes.orders).containsExactly("start sandglass-default/" + id + " by alice");
        assertThat(gateway.sandboxes.configs.getFirst().memory()).isEqualTo("1Gi");
        assertThat(client.delete().statusCode()).isEqualTo(204);
        assertThat(client.answer("run_python", "{'code':'print 42'}").statusCode())
                .isEqualTo(404);
    }

    @Test
    void aSandboxThatWasNotThereIsNew() throws Exception {
        String text = TestGateway.text(
                EndpointClient.of(gateway, "/mcp/code-mode?sandbox=bxo").call("run_python", "{'code':'print 42'}"));
        assertThat(text).startsWith("42\n").endsWith("\nSandbox 'bxo' was not there: this one is new.");
    }
}
