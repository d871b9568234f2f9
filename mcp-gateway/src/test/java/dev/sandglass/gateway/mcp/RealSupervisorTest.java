package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.execution.SupervisorProcess;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import dev.sandglass.gateway.testing.TestLinks;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** From HTTP to a real kernel: nothing on the way is a stand-in but the cluster. */
class RealSupervisorTest {

    private static SupervisorProcess supervisor;
    private static LinkClient links;
    private static TestGateway gateway;

    @BeforeAll
    static void start() {
        supervisor = SupervisorProcess.start();
        links = TestLinks.start(SupervisorProcess.SECRET);
        gateway = TestGateway.start(links);
        gateway.sandboxes.put(new SandboxState.Running(supervisor.sandbox()));
        gateway.awaitKernel(supervisor.sandbox());
    }

    @AfterAll
    static void stop() {
        gateway.close();
        links.close();
        supervisor.close();
    }

    private static JsonNode run(String code) throws Exception {
        String quoted = code.replace("\n", "\\n").replace("\"", "\\\"");
        return gateway.call("sandbox_run_code", "{\"sandbox\":\"test\",\"code\":\"%s\"}".formatted(quoted));
    }

    @Test
    void stateIsKeptAndTheLastValueIsTold() throws Exception {
        run("x = 20");

        JsonNode result = run("print('hi')\nx * 2 + 2");

        assertThat(TestGateway.text(result)).isEqualTo("hi\n42");
        assertThat(result.path("structuredContent").path("result").asString()).isEqualTo("42");
    }

    @Test
    void anExceptionHasItsTraceback() throws Exception {
        JsonNode result = run("1/0");

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(result.path("structuredContent").path("error").path("name").asString())
                .isEqualTo("ZeroDivisionError");
        assertThat(TestGateway.text(result)).contains("ZeroDivisionError: division by zero");
    }

    @Test
    void outputStreamsWhileTheCodeRuns() throws Exception {
        String body = """
                {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sandbox_run_code","arguments":\
                {"sandbox":"test","code":"for i in range(3):\\n  print(i, flush=True)"},"_meta":{"progressToken":1}}}""";

        HttpResponse<String> response = gateway.send(gateway.post(body));

        assertThat(response.body()).contains("notifications/progress").contains("\"stdout\":\"0\\n1\\n2\\n\"");
    }

    @Test
    void aCommandLineRunsInAShellAndArgumentsAreTakenAsTheyAre() throws Exception {
        JsonNode line =
                gateway.call("sandbox_run_command", "{\"sandbox\":\"test\",\"command\":\"echo $((6*7)); exit 3\"}");
        assertThat(TestGateway.text(line)).isEqualTo("[exit code 3]\n42\n");
        assertThat(line.path("structuredContent").path("exit_code").asInt()).isEqualTo(3);

        JsonNode exact = gateway.call(
                "sandbox_run_command", "{\"sandbox\":\"test\",\"command\":\"echo\",\"args\":[\"$HOME *\"]}");
        assertThat(TestGateway.text(exact)).isEqualTo("$HOME *\n");
    }

    private JsonNode call(String tool, String session) throws Exception {
        return gateway.call(tool, "{\"sandbox\":\"test\",\"session\":\"%s\"}".formatted(session));
    }

    private String inSession(String session, String code) throws Exception {
        return TestGateway.text(gateway.call(
                "sandbox_run_code",
                "{\"sandbox\":\"test\",\"session\":\"%s\",\"code\":\"%s\"}".formatted(session, code)));
    }

    @Tag("slow")
    @Test
    void aSessionHasVariablesOfItsOwnUntilItIsResetOrClosed() throws Exception {
        run("x = 1");
        assertThat(inSession("second", "x = 2; x")).isEqualTo("2");
        assertThat(TestGateway.text(run("x"))).isEqualTo("1");
        assertThat(sessions()).containsExactlyInAnyOrder("default idle", "second idle");

        assertThat(TestGateway.text(call("sandbox_reset", "second"))).startsWith("Session 'second' is fresh");
        assertThat(inSession("second", "x")).contains("NameError");
        assertThat(TestGateway.text(call("sandbox_close_session", "second"))).startsWith("Session 'second' is closed");
        assertThat(sessions()).containsExactly("default idle");
        for (String tool : List.of("sandbox_interrupt", "sandbox_reset", "sandbox_close_session")) {
            assertThat(TestGateway.text(call(tool, "second"))).startsWith("There is no session 'second' yet");
        }
    }

    @Test
    void nodeIsALanguageUnderEachOfItsNames() throws Exception {
        assertThat(inLanguage("nodejs", "const kept = 41; await kept + 1")).isEqualTo("42");
        assertThat(inLanguage("node", "kept")).isEqualTo("41");
        assertThat(inLanguage("javascript", "throw new TypeError('wrong')")).contains("TypeError: wrong");
        assertThat(TestGateway.text(
                        gateway.call("sandbox_close_session", "{\"sandbox\":\"test\",\"language\":\"javascript\"}")))
                .startsWith("Session 'default' is closed");
        assertThat(inLanguage("nodejs", "typeof kept")).isEqualTo("'undefined'");
        gateway.call("sandbox_close_session", "{\"sandbox\":\"test\",\"language\":\"nodejs\"}");
    }

    private static String inLanguage(String language, String code) throws Exception {
        return TestGateway.text(gateway.call(
                "sandbox_run_code",
                "{\"sandbox\":\"test\",\"language\":\"%s\",\"code\":\"%s\"}".formatted(language, code)));
    }

    @Test
    void aRunWhoseAnswerIsLostIsFoundAndRead() throws Exception {
        String id = run("print('lost and found')")
                .path("structuredContent")
                .path("execution_id")
                .asString();

        JsonNode newest = gateway.call("sandbox_list", "{\"sandbox\":\"test\"}")
                .path("structuredContent")
                .path("sandboxes")
                .path(0)
                .path("executions")
                .path(0);

        assertThat(newest.path("execution_id").asString()).isEqualTo(id);
        assertThat(newest.path("state").asString()).isEqualTo("done");
        assertThat(newest.path("kind").asString()).isEqualTo("code");
        assertThat(TestGateway.text(gateway.call("sandbox_get_execution", "{\"execution_id\":\"%s\"}".formatted(id))))
                .isEqualTo("lost and found\n");
    }

    @Test
    void anOffsetBehindTheEndIsAnErrorThatSaysWhereTheEndIs() throws Exception {
        String id = run("print('six!!')")
                .path("structuredContent")
                .path("execution_id")
                .asString();

        JsonNode refused =
                gateway.call("sandbox_get_execution", "{\"execution_id\":\"%s\",\"offset\":7}".formatted(id));

        assertThat(refused.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(refused))
                .isEqualTo("Error: 'offset': 7 is behind the end; the execution has 6 bytes of output so far. Give the"
                        + " next_offset of an earlier answer, or 0 for all of it.");
    }

    @Test
    void theSignalThatEndedACommandIsToldApartFromItsCode() throws Exception {
        JsonNode killed = gateway.call("sandbox_run_command", "{\"sandbox\":\"test\",\"command\":\"kill -TERM $$\"}");
        assertThat(killed.path("structuredContent").path("signal").asInt()).isEqualTo(15);
        assertThat(killed.path("structuredContent").path("exit_code").isNull()).isTrue();
        assertThat(TestGateway.text(killed)).isEqualTo("[error] Ended by signal 15.");

        JsonNode fine = run("1").path("structuredContent");
        assertThat(fine.has("signal")).isTrue();
        assertThat(fine.path("signal").isNull()).isTrue();
    }

    @Tag("slow")
    @Test
    void aCommandInTheBackgroundIsInterruptedByItsId() throws Exception {
        String id = gateway.call(
                        "sandbox_run_command",
                        "{\"sandbox\":\"test\",\"command\":\"sleep\",\"args\":[\"600\"],\"background\":true}")
                .path("structuredContent")
                .path("execution_id")
                .asString();

        assertThat(TestGateway.text(interrupt(id))).startsWith("Interrupted " + id);
        JsonNode ended = gateway.call("sandbox_get_execution", "{\"execution_id\":\"%s\"}".formatted(id));
        assertThat(ended.path("structuredContent").path("status").asString()).isEqualTo("interrupted");
        assertThat(interrupt(id).path("structuredContent").path("status").asString())
                .isEqualTo("ended");
        String unknown = id.substring(0, id.length() - 16) + "a".repeat(16);
        assertThat(TestGateway.text(interrupt(unknown))).startsWith("Error: The sandbox does not know " + unknown);
    }

    private static JsonNode interrupt(String id) throws Exception {
        return gateway.call("sandbox_interrupt", "{\"sandbox\":\"test\",\"execution_id\":\"%s\"}".formatted(id));
    }

    private List<String> sessions() throws Exception {
        JsonNode known = gateway.call("sandbox_list", "{}")
                .path("structuredContent")
                .path("sandboxes")
                .path(0)
                .path("sessions");
        return StreamSupport.stream(known.spliterator(), false)
                .map(session -> session.path("session").asString() + " "
                        + session.path("state").asString())
                .toList();
    }

    @Test
    void anotherPythonIsLookedForInTheSandbox() throws Exception {
        JsonNode missing = gateway.call(
                "sandbox_run_code",
                "{\"sandbox\":\"test\",\"session\":\"other\",\"code\":\"1\",\"python_env\":\"none\"}");
        assertThat(missing.path("structuredContent").path("status").asString()).isEqualTo("env_error");
        assertThat(TestGateway.text(missing)).contains("no interpreter in env 'none'", "python3 -m venv ");

        run("1");
        JsonNode late =
                gateway.call("sandbox_run_code", "{\"sandbox\":\"test\",\"code\":\"1 + 1\",\"python_env\":\"none\"}");
        assertThat(TestGateway.text(late))
                .startsWith("2\n--- sandglass ---\n[warning] Session 'default' runs in the sandbox's own Python");
    }

    @Test
    void metricsComeFromTheSupervisor() throws Exception {
        run("1");

        JsonNode usage = gateway.call("sandbox_get_metrics", "{\"sandbox\":\"test\"}")
                .path("structuredContent")
                .path("sandboxes")
                .path(0);

        assertThat(usage.path("uptime").asDouble()).isPositive();
        assertThat(usage.path("kernels").asInt()).isPositive();
        assertThat(usage.path("pids_limit").asInt()).isPositive();
        assertThat(usage.path("network_received").isIntegralNumber()).isTrue();
        assertThat(usage.path("network_sent").isIntegralNumber()).isTrue();
    }
}
