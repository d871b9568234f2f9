package dev.sandglass.gateway.contract.dropin.ipython;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The rows P2 to P18 of the contracts at {@code /mcp/ipython}, before a stand-in for the supervisor. */
@SuppressWarnings("NullAway.Init")
class IpythonContractTest {

    private static final SandboxRef BOX = new SandboxRef("default", "sandglass-default", "box", "box");

    private TestGateway gateway;
    private EndpointClient client;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
        client = EndpointClient.of(gateway, "/mcp/ipython?sandbox=box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode cell(String more) throws Exception {
        return client.data("execute", "{'session':'work'," + more + "}");
    }

    private List<Verb.Execute> executed() {
        return gateway.supervisor.verbs.stream()
                .filter(Verb.Execute.class::isInstance)
                .map(Verb.Execute.class::cast)
                .toList();
    }

    @Test
    void p2ToP11TheToolsAndTheirParameters() throws Exception {
        JsonNode tools = gateway.json(client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"))
                .at("/result/tools");

        assertThat(tools.valueStream().map(tool -> tool.path("name").asString()))
                .containsExactly("execute", "list_sessions", "reset", "shutdown", "interrupt");
        assertThat(tools.at("/0/inputSchema/properties").propertyNames())
                .containsExactly("session", "code", "env", "timeout_s");
        assertThat(tools.at("/0/inputSchema/required").toString()).isEqualTo("[\"session\",\"code\"]");
        for (int tool = 2; tool <= 4; tool++) {
            assertThat(tools.at("/" + tool + "/inputSchema/required").toString())
                    .isEqualTo("[\"session\"]");
        }
    }

    @Test
    void p3TheResultIsOneObject() throws Exception {
        JsonNode result = client.call("execute", "{'session':'work','code':'print 42'}");

        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(result.has("structuredContent")).isFalse();
        assertThat(TestGateway.text(result))
                .isEqualTo("{\"status\":\"ok\",\"stdout\":\"42\",\"stderr\":\"\",\"result\":null,\"error\":null,"
                        + "\"execution_count\":null,\"warning\":null}");
    }

    @Test
    void p3ProgramsHaveItAsDataOnRequest() throws Exception {
        client = EndpointClient.of(gateway, "/mcp/ipython?sandbox=box&structured=true");
        JsonNode result = client.call("execute", "{'session':'work','code':'print 42'}");

        assertThat(result.at("/structuredContent/stdout").asString()).isEqualTo("42");
        assertThat(client.call("list_sessions", "{}")
                        .at("/structuredContent/result")
                        .isArray())
                .isTrue();
    }

    @Test
    void p3TheCountIsThatOfTheSession() throws Exception {
        gateway.supervisor.sessions.put("work", "null");
        assertThat(cell("'code':'print 42'").path("execution_count").asInt()).isEqualTo(3);
    }

    @Test
    void p5AnErrorIsDataWithItsTraceback() throws Exception {
        JsonNode result = client.call("execute", "{'session':'work','code':'raise'}");
        assertThat(result.path("isError").asBoolean()).isFalse();

        JsonNode facts = cell("'code':'raise'");
        assertThat(facts.path("status").asString()).isEqualTo("error");
        assertThat(facts.path("error").asString()).isEqualTo("Traceback");
    }

    @Test
    void p6P16TheTimeoutGoesToTheSandboxAndTheAnswerWaitsForIt() throws Exception {
        cell("'code':'print 1'");
        cell("'code':'print 2','timeout_s':7.5");

        assertThat(executed()).extracting(verb -> verb.timeout().toMillis()).containsExactly(58_000L, 7_500L);
    }

    @ParameterizedTest
    @CsvSource({"0.1, true", "0.09, false", "3600, true", "3600.1, false", "-1, false"})
    void p6TheTimeoutHasBounds(String seconds, boolean taken) throws Exception {
        String text = TestGateway.text(
                client.call("execute", "{'session':'work','code':'print 1','timeout_s':%s}".formatted(seconds)));
        if (taken) {
            assertThat(text).contains("\"status\":\"ok\"");
        } else {
            assertThat(text).isEqualTo("Error: 'timeout_s' must be a number of seconds from 0.1 to 3600");
        }
    }

    @Test
    void p7AMissingIpykernelIsDataWithACellThatInstallsIt() throws Exception {
        JsonNode result = client.call("execute", "{'session':'work','code':'1','env':'bare'}");
        assertThat(result.path("isError").asBoolean()).isFalse();

        JsonNode facts = cell("'code':'1','env':'bare'");
        assertThat(facts.path("status").asString()).isEqualTo("env_error");
        assertThat(facts.path("error").asString())
                .isEqualTo("ipykernel not found. Install with: a cell for execute in another session, without env:"
                        + " !pip install ipykernel");
    }

    @Test
    void p8SessionsAreListed() throws Exception {
        gateway.supervisor.sessions.put(SessionNames.of("my data/1").session(), "\"data\"");
        JsonNode listed = client.data("list_sessions", "{}");

        // The one that a sandbox begins with does not count before it is used.
        assertThat(listed.toString())
                .isEqualTo("[{\"name\":\"my data/1\",\"env\":\"data\",\"python\":\"/workspace/envs/data/bin/python\","
                        + "\"status\":\"busy\",\"uptime_s\":1.5,\"exec_count\":3}]");
    }

    @Test
    void p2P8ALongNameIsListedAsTheCallerWroteIt() throws Exception {
        String name = "The data of 2026, in a session with a name of more than forty-five bytes";
        client.call("execute", "{'session':'%s','code':'print 1'}".formatted(name));
        Verb.Execute sent = executed().getFirst();
        assertThat(sent.session()).startsWith("u-The-data-of-2026-").hasSize(63);
        assertThat(sent.label()).isEqualTo(name);

        gateway.supervisor.sessions.put(sent.session(), "null");
        gateway.supervisor.labels.put(sent.session(), name);
        assertThat(client.data("list_sessions", "{}").at("/0/name").asString()).isEqualTo(name);
        assertThat(client.data("reset", "{'session':'%s'}".formatted(name)).toString())
                .isEqualTo("{\"ok\":true}");
    }

    @Test
    void p2ANameHasABoundAndIsNotEmpty() throws Exception {
        assertThat(TestGateway.text(client.call("execute", "{'session':'','code':'1'}")))
                .startsWith("Error: 'session' must not be empty");
        assertThat(TestGateway.text(client.call("execute", "{'session':'%s','code':'1'}".formatted("x".repeat(1001)))))
                .isEqualTo("Error: 'session' must have at most 1000 characters, has 1001");
        assertThat(cell("'code':'print 1'").path("status").asString()).isEqualTo("ok");
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({
        "null, default, /opt/sandglass/bin/python",
        "\"~/my env\", ~/my env, /workspace/my env/bin/python",
        "\"/opt/py/\", /opt/py/, /opt/py/bin/python",
        "\"a/b\", a/b, /workspace/a/b/bin/python",
        "\"~\", ~, /workspace/bin/python"
    })
    void p14TheInterpreterIsAnAbsolutePath(String given, String env, String python) throws Exception {
        gateway.supervisor.sessions.put("work", given);
        JsonNode session = client.data("list_sessions", "{}").path(0);

        assertThat(session.path("env").asString()).isEqualTo(env);
        assertThat(session.path("python").asString()).isEqualTo(python);
    }

    @ParameterizedTest
    @ValueSource(strings = {"reset", "shutdown", "interrupt"})
    void p9ToP12AKnownSessionIsOkAndAnUnknownOneIsData(String tool) throws Exception {
        gateway.supervisor.sessions.put("work", "null");
        JsonNode known = client.call(tool, "{'session':'work'}");
        JsonNode unknown = client.call(tool, "{'session':'x'}");

        assertThat(TestGateway.text(known)).isEqualTo("{\"ok\":true}");
        assertThat(TestGateway.text(unknown)).isEqualTo("{\"ok\":false,\"error\":\"unknown session 'x'\"}");
        // A sandbox begins with one of that name, which nobody used.
        assertThat(TestGateway.text(client.call(tool, "{'session':'default'}")))
                .isEqualTo("{\"ok\":false,\"error\":\"unknown session 'default'\"}");
        assertThat(unknown.path("isError").asBoolean()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"reset", "shutdown", "interrupt"})
    void p12ASandboxThatIsNotThereOrSleepsHasNoSessions(String tool) throws Exception {
        EndpointClient fresh = EndpointClient.of(gateway, "/mcp/ipython?sandbox=none");
        assertThat(fresh.data(tool, "{'session':'x'}").path("error").asString()).isEqualTo("unknown session 'x'");
        assertThat(fresh.data("list_sessions", "{}").toString()).isEqualTo("[]");

        gateway.sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));
        assertThat(client.data(tool, "{'session':'x'}").path("error").asString())
                .isEqualTo("unknown session 'x'");
        assertThat(client.data("list_sessions", "{}").toString()).isEqualTo("[]");
        assertThat(gateway.sandboxes.orders).isEmpty();
    }

    @Test
    void p11AnInterruptedCellIsAnErrorAndTheSessionGoesOn() throws Exception {
        CompletableFuture<JsonNode> call = CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return cell("'code':'hang'");
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                Thread::startVirtualThread);
        await().until(() -> !executed().isEmpty());
        gateway.supervisor
                .ask(new Verb.Interrupt(executed().getFirst().executionId()), Duration.ofSeconds(1))
                .get();

        JsonNode facts = call.get();
        assertThat(facts.path("status").asString()).isEqualTo("error");
        assertThat(facts.path("error").asString()).isEqualTo("KeyboardInterrupt");
    }

    @Test
    void p13P14SessionsAndEnvsGoToTheSandbox() throws Exception {
        cell("'code':'1','env':'~/my env'");
        client.call("execute", "{'session':'two words','code':'1'}");

        assertThat(executed()).extracting(Verb.Execute::session).containsExactly("work", "u-dHdvIHdvcmRz");
        assertThat(executed()).extracting(Verb.Execute::pythonEnv).containsExactly("~/my env", null);
        assertThat(TestGateway.text(client.call("execute", "{'session':'w','code':'1','env':'..'}")))
                .startsWith("Error: 'env' must be a name (1 to 63 letters");
    }

    @Test
    void p15AnotherEnvIsAWarning() throws Exception {
        gateway.supervisor.sessions.put("work", "\"data\"");
        JsonNode facts = cell("'code':'1','env':'late'");

        assertThat(facts.path("status").asString()).isEqualTo("ok");
        assertThat(facts.path("warning").asString())
                .isEqualTo("session 'work' is bound to env 'data' (/workspace/envs/data/bin/python); ignoring requested"
                        + " env 'late'. Use shutdown('work') first to rebind.");
    }

    @Test
    void p18PicturesStandBesideTheText() throws Exception {
        JsonNode result = client.call("execute", "{'session':'work','code':'draw 3'}");
        assertThat(result.at("/content/1/type").asString()).isEqualTo("image");
        assertThat(result.at("/content/1/data").asString()).isEqualTo("AAAA");
    }

    @Tag("slow")
    @Test
    void aSandboxThatWasNotThereIsNew() throws Exception {
        client = EndpointClient.of(gateway, "/mcp/ipython?sandbox=bxo");
        assertThat(cell("'code':'1'").path("warning").asString())
                .isEqualTo("Sandbox 'bxo' was not there: this one is new.");
        assertThat(cell("'code':'1'").path("warning").isNull()).isTrue();
    }

    @Test
    void lostVariablesAreTold() throws Exception {
        gateway.sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));
        assertThat(cell("'code':'1'").path("warning").asString())
                .isEqualTo(
                        "The sandbox had been suspended (Idle) and was resumed: variables of earlier cells are lost.");
    }

    @Test
    void aStoppedSandboxIsRefusedInOwnWords() throws Exception {
        gateway.sandboxes.put(new SandboxState.Stopped(BOX, "uid-box"));
        JsonNode result = client.call("execute", "{'session':'work','code':'1'}");

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).startsWith("Error: Sandbox 'box' is not running: it was stopped. It");
    }

    @Test
    void codeHasABoundAndMustBeThere() throws Exception {
        assertThat(TestGateway.text(client.call("execute", "{'session':'work'}")))
                .isEqualTo("Error: Missing required 'code' parameter");
        assertThat(TestGateway.text(client.call("execute", "{'code':'1'}")))
                .isEqualTo("Error: Missing required 'session' parameter");
    }

    /** No text here sends a model to a tool that it does not have. */
    @Test
    void textsNameOnlyToolsThatAreHere() throws Exception {
        String whole = client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}")
                        .body()
                + client.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}")
                        .body();
        assertThat(whole).contains("list_sessions").doesNotContain("sandbox_");
        assertThat(Set.of("execute", "list_sessions", "reset", "shutdown", "interrupt"))
                .allMatch(tool -> whole.contains("\"" + tool + "\""));
    }
}
