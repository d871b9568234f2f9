package dev.sandglass.gateway.contract.dropin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.EndpointClient;
import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What was lost, and whatever else the sandbox warns of, is told once, and where it means anything. */
@SuppressWarnings("NullAway.Init")
class LossesTest {

    private static final SandboxRef BOX = new SandboxRef("default", "sandglass-default", "box", "box");
    private static final String CELL = "execute_ipython_cell, /mcp/ipybox, {'code':'1'}";
    private static final String PROGRAM = "run_python, /mcp/code-mode, {'code':'1'}";

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

    private String said(String tool, String path, String arguments) throws Exception {
        return TestGateway.text(
                EndpointClient.of(gateway, path + "?sandbox=box").call(tool, arguments.replace(';', ',')));
    }

    private void ends(boolean restarted, String warning) {
        gateway.supervisor.outcome =
                new OutputRecord.Outcome(0, "ok", 1, null, null, restarted, "", null, warning, false);
    }

    @ParameterizedTest
    @CsvSource({CELL, PROGRAM, "execute, /mcp/ipython, {'session':'a';'code':'1'}"})
    void aWarningOfTheSandboxIsTold(String tool, String path, String arguments) throws Exception {
        ends(false, "Something else was killed.");
        assertThat(said(tool, path, arguments)).containsOnlyOnce("Something else was killed.");
    }

    @ParameterizedTest
    @CsvSource({CELL, "execute, /mcp/ipython, {'session':'a';'code':'1'}"})
    void lostVariablesAreToldOnce(String tool, String path, String arguments) throws Exception {
        ends(true, "The pod is another one: variables are lost.");
        gateway.sandboxes.put(new SandboxState.Asleep(BOX, "uid-box", "Idle"));

        assertThat(said(tool, path, arguments)).containsOnlyOnce("variables").contains("The pod is another one");
    }

    /** No variable outlives a call there. */
    @Test
    void aProgramHearsNothingOfVariables() throws Exception {
        ends(true, "The pod is another one: variables are lost.");
        assertThat(said("run_python", "/mcp/code-mode", "{'code':'1'}")).isEqualTo("Success (no output)");
    }
}
