package dev.sandglass.gateway.contract.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.execution.SupervisorProcess;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import dev.sandglass.gateway.testing.TestLinks;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** The drop-in endpoints before a real kernel. */
class RealEndpointsTest {

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

    private static EndpointClient at(String endpoint) {
        return EndpointClient.of(gateway, "/mcp/" + endpoint + "?sandbox=test&structured=true");
    }

    private static JsonNode cell(String session, String code, String more) throws Exception {
        return at("ipython").data("execute", "{'session':'%s','code':'%s'%s}".formatted(session, code, more));
    }

    private static JsonNode program(String code) throws Exception {
        return at("code-mode")
                .call("run_python", "{'code':'%s','timeout':2}".formatted(code))
                .path("structuredContent");
    }

    @Tag("slow")
    @Test
    void p3P6P8ToP12SessionsOfIpython() throws Exception {
        assertThat(cell("two words", "x = 41", "").path("status").asString()).isEqualTo("ok");
        JsonNode second = cell("two words", "x + 1", "");
        assertThat(second.path("result").asString()).isEqualTo("42");
        assertThat(second.path("execution_count").asInt()).isEqualTo(2);
        assertThat(second.path("warning").isNull()).isTrue();
        assertThat(cell("two words", "1/0", "").path("error").asString()).contains("ZeroDivisionError");

        JsonNode late = cell("two words", "print(x, flush=True); import time; time.sleep(60)", ",'timeout_s':2.5");
        assertThat(late.path("status").asString()).isEqualTo("timeout");
        assertThat(late.path("stdout").asString()).isEqualTo("41\n");
        assertThat(late.path("error").asString()).contains("timeout_s").doesNotContain("sandbox_");
        assertThat(cell("two words", "x", "").path("result").asString()).isEqualTo("41");

        JsonNode listed = at("ipython").data("list_sessions", "{}");
        assertThat(listed.valueStream().map(each -> each.path("name").asString()))
                .contains("two words");
        assertThat(at("ipython").data("reset", "{'session':'two words'}").toString())
                .isEqualTo("{\"ok\":true}");
        assertThat(cell("two words", "x", "").path("error").asString()).contains("NameError");
        assertThat(at("ipython").data("interrupt", "{'session':'two words'}").toString())
                .isEqualTo("{\"ok\":true}");
        assertThat(at("ipython").data("shutdown", "{'session':'two words'}").toString())
                .isEqualTo("{\"ok\":true}");
        assertThat(at("ipython").data("shutdown", "{'session':'two words'}").toString())
                .isEqualTo("{\"ok\":false,\"error\":\"unknown session 'two words'\"}");
    }

    private static JsonNode listed(String session) throws Exception {
        return at("ipython")
                .data("list_sessions", "{}")
                .valueStream()
                .filter(each -> each.path("name").asString().equals(session))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void p2P8P9ALongNameStaysAndAResetCountsAnew() throws Exception {
        String name = "a name of a session / with more than 63 characters, é and 🙂, which is listed whole";
        cell(name, "1", "");
        cell(name, "2", "");
        assertThat(listed(name).path("exec_count").asInt()).isEqualTo(2);

        long before = System.nanoTime();
        at("ipython").data("reset", "{'session':'%s'}".formatted(name));
        assertThat(listed(name).path("exec_count").asInt()).isZero();
        double uptime = listed(name).path("uptime_s").asDouble();
        assertThat(uptime).isLessThan((System.nanoTime() - before) / 1e9);
        assertThat(at("ipython")
                        .data("shutdown", "{'session':'%s'}".formatted(name))
                        .toString())
                .isEqualTo("{\"ok\":true}");
    }

    @Tag("slow")
    @Test
    void p8P12TheSandboxesFirstSessionIsUnknownUntilItIsUsed() throws Exception {
        at("ipython").data("execute", "{'session':'default','code':'1'}");
        at("ipython").data("reset", "{'session':'default'}");
        assertThat(listed("default").path("exec_count").asInt()).isZero();
        assertThat(at("ipython").data("shutdown", "{'session':'default'}").toString())
                .isEqualTo("{\"ok\":true}");
        assertThat(at("ipython").data("reset", "{'session':'default'}").toString())
                .isEqualTo("{\"ok\":false,\"error\":\"unknown session 'default'\"}");
    }

    @Tag("slow")
    @Test
    void p7P15EnvsOfIpython() throws Exception {
        assertThat(cell("bare", "1", ",'env':'/usr/nowhere'").path("status").asString())
                .isEqualTo("env_error");
        cell("own", "1", "");
        assertThat(cell("own", "2", ",'env':'data'").path("warning").asString())
                .isEqualTo("session 'own' is bound to env 'default' (/opt/sandglass/bin/python); ignoring requested env"
                        + " 'data'. Use shutdown('own') first to rebind.");
        at("ipython").data("shutdown", "{'session':'own'}");
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "print(1) | success | 0",
                "x = 1; x | success | 0",
                "import sys; sys.exit() | success | 0",
                "import sys; sys.exit(0) | success | 0",
                "import sys; sys.exit(3) | error | 3",
                "import sys; sys.exit(-1) | error | 255",
                "1/0 | error | 1",
                "import os; os._exit(4) | error | 4",
            })
    void x9X10EndsOfPrograms(String code, String status, int exitCode) throws Exception {
        JsonNode facts = program(code);
        assertThat(facts.path("status").asString()).isEqualTo(status);
        assertThat(facts.path("exitCode").asInt(-1)).as(facts.toString()).isEqualTo(exitCode);
        assertThat(facts.toString()).doesNotContain("sandbox_");
    }

    @Tag("slow")
    @Test
    void x7ManyProgramsLeaveNoKernelBehind() throws Exception {
        for (int count = 0; count < 10; count++) {
            assertThat(program("kept = 1; print(len(globals().get(str(1), str(1))))")
                            .path("status")
                            .asString())
                    .isEqualTo("success");
        }
        assertThat(program("kept").at("/stderr").toString()).contains("NameError");
    }

    @Tag("slow")
    @Test
    void x12ATimeoutKeepsWhatWasPrinted() throws Exception {
        JsonNode facts = program("print(1, flush=True); import time; time.sleep(60)");
        assertThat(facts.path("summary").asString()).isEqualTo("Timeout: execution exceeded 2s");
        assertThat(facts.at("/stdout/0").asString()).isEqualTo("1");
    }

    @Tag("slow")
    @Test
    void i8ToI13CellsOfIpybox() throws Exception {
        EndpointClient client = at("ipybox");
        assertThat(TestGateway.text(client.call("execute_ipython_cell", "{'code':'print(1)\\nx = 41; x + 1'}")))
                .isEqualTo("1\n42");
        assertThat(TestGateway.text(client.call("execute_ipython_cell", "{'code':'1/0'}")))
                .contains("ZeroDivisionError");
        String cut = TestGateway.text(
                client.call("execute_ipython_cell", "{'code':'print(str(7) * 500)','max_output_chars':100}"));
        assertThat(cut)
                .contains("[Output truncated: exceeded 100 character limit]\nMore of it is in /workspace/outputs/");
        String late = TestGateway.text(client.call(
                "execute_ipython_cell", "{'code':'print(7, flush=True); import time; time.sleep(60)','timeout':2.5}"));
        assertThat(late).startsWith("7\nExecution timed out: ").doesNotContain("sandbox_");
        assertThat(TestGateway.text(client.call("reset", "{}"))).startsWith("The kernel is new");
        assertThat(TestGateway.text(client.call("execute_ipython_cell", "{'code':'x'}")))
                .contains("NameError");
    }
}
