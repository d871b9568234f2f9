package dev.sandglass.gateway.contract.sandglass.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.FakeSupervisor;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The argument {@code python_env}: the rows P7, P8, P14 and P15 of the contracts, as far as the gateway has a part in them. */
class PythonEnvContractTest {

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

    private JsonNode run(String env) throws Exception {
        return gateway.call(
                "sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"1\",\"python_env\":\"%s\"}".formatted(env));
    }

    @ParameterizedTest
    @ValueSource(strings = {"data", "py3.13-x_y+z", "~", "~/", "~/my env", "/opt/py", "./v", "a/b/", "a~/b"})
    void namesAndPathsGoToTheSandboxAsTheyAre(String env) throws Exception {
        assertThat(run(env).path("isError").asBoolean()).isFalse();
        assertThat(asked()).containsExactly(env);
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", ".", "..", "-x", "a b", "é", "~root", "~root/x", "/a\\nb"})
    void oddNamesAreRefused(String env) throws Exception {
        assertThat(TestGateway.text(run(env))).startsWith("Error: 'python_env' must be a name (1 to 63 letters");
        assertThat(asked()).isEmpty();
    }

    @Test
    void itIsForPythonAlone() throws Exception {
        JsonNode result = gateway.call(
                "sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"1\",\"language\":\"node\",\"python_env\":\"x\"}");

        assertThat(TestGateway.text(result))
                .isEqualTo("Error: 'python_env' is for language python; leave it out for nodejs");
    }

    @Test
    void theLongestNameAndPathAreTakenAndNoLongerOnes() throws Exception {
        String name = "x".repeat(63);
        String path = "/" + "x".repeat(1023);
        assertThat(run(name).path("isError").asBoolean()).isFalse();
        assertThat(run(path).path("isError").asBoolean()).isFalse();
        assertThat(TestGateway.text(run(name + "x"))).startsWith("Error: 'python_env' must be a name (1 to 63 letters");
        assertThat(TestGateway.text(run(path + "x"))).startsWith("Error: 'python_env' must");
        assertThat(asked()).containsExactly(name, path);
    }

    private List<String> asked() {
        return gateway.supervisor.verbs.stream()
                .filter(Verb.Execute.class::isInstance)
                .map(verb -> String.valueOf(((Verb.Execute) verb).pythonEnv()))
                .toList();
    }

    @Test
    void anEnvThatCameTooLateIsAWarning() throws Exception {
        JsonNode result = run("late");

        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(result.path("structuredContent").path("status").asString()).isEqualTo("ok");
        assertThat(result.path("structuredContent").path("warning").asString()).isEqualTo(FakeSupervisor.TOO_LATE);
        assertThat(TestGateway.text(result)).isEqualTo(FencedText.FENCE + "\n[warning] " + FakeSupervisor.TOO_LATE);
    }

    @Test
    void withoutAWarningTheFieldIsNull() throws Exception {
        JsonNode facts = run("data").path("structuredContent");

        assertThat(facts.has("warning")).isTrue();
        assertThat(facts.path("warning").isNull()).isTrue();
    }

    @Test
    void theListTellsInWhichEnvASessionRuns() throws Exception {
        JsonNode listed = gateway.call("sandbox_list", "{}").path("structuredContent");

        JsonNode session = listed.path("sandboxes").path(0).path("sessions").path(0);
        assertThat(session.path("python_env").asString()).isEqualTo("data");
    }

    @Test
    void anEnvThatCannotBeUsedIsAnErrorWithTheHint() throws Exception {
        JsonNode result = run("bare");

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(result.path("structuredContent").path("status").asString()).isEqualTo("env_error");
        assertThat(TestGateway.text(result))
                .isEqualTo(
                        "[env_error] ipykernel not found. Install with: sandbox_run_command 'pip install ipykernel'.");
    }
}
