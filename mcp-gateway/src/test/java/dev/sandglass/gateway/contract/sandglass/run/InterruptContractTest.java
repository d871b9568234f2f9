package dev.sandglass.gateway.contract.sandglass.run;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** {@code sandbox_interrupt} by the id of an execution. */
class InterruptContractTest {

    private static final String NUMBER = "aaaaaaaaaaaaaaaa";
    private static final String ID = "default.uid-box.1." + NUMBER;

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
        gateway.sandboxes.addRunning("other");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode interrupt(String sandbox, String id) throws Exception {
        return gateway.call("sandbox_interrupt", "{\"sandbox\":\"%s\",\"execution_id\":\"%s\"}".formatted(sandbox, id));
    }

    @Test
    void whatAnIdNamesIsInterrupted() throws Exception {
        JsonNode answer = interrupt("box", ID);

        assertThat(gateway.supervisor.interrupted()).containsExactly(NUMBER);
        assertThat(TestGateway.text(answer))
                .startsWith("Interrupted " + ID + "; ")
                .contains("does not react within 2 s, its process is ended", "sandbox_get_execution tells");
        JsonNode facts = answer.path("structuredContent");
        assertThat(facts.path("status").asString()).isEqualTo("interrupted");
        assertThat(facts.path("interrupted").path(0).asString()).isEqualTo(ID);
        assertThat(facts.has("session")).isTrue();
        assertThat(facts.path("session").isNull()).isTrue();
        assertThat(facts.path("language").isNull()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",\"sandbox\":\"\"", ",\"sandbox\":null,\"namespace\":\"\""})
    void anIdSaysItsSandbox(String more) throws Exception {
        JsonNode answer = gateway.call("sandbox_interrupt", "{\"execution_id\":\"%s\"%s}".formatted(ID, more));

        assertThat(gateway.supervisor.interrupted()).containsExactly(NUMBER);
        assertThat(answer.at("/structuredContent/sandbox").asString()).isEqualTo("box");
        assertThat(answer.at("/structuredContent/status").asString()).isEqualTo("interrupted");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "default.uid-none.1.aaaaaaaaaaaaaaaa | The sandbox of this execution was deleted. It ended with that",
                "default.uid-box.9.aaaaaaaaaaaaaaaa | of an earlier pod of sandbox 'box'. It ended with that pod",
                "default.uid-off.1.aaaaaaaaaaaaaaaa | of an earlier pod of sandbox 'off'. It ended with that pod",
                "other.uid-box.1.aaaaaaaaaaaaaaaa | Namespace 'other' does not exist",
            })
    void anIdAloneThatNamesNothingThatRunsIsRefused(String id, String words) throws Exception {
        gateway.sandboxes.put(
                new SandboxState.Stopped(new SandboxRef("default", "sandglass-default", "off", "off"), "uid-off"));

        JsonNode answer = gateway.call("sandbox_interrupt", "{\"execution_id\":\"%s\"}".formatted(id));

        assertThat(answer.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(answer)).contains(words);
        assertThat(gateway.supervisor.interrupted()).isEmpty();
    }

    @Test
    void withoutAnIdASandboxIsNamed() throws Exception {
        assertThat(TestGateway.text(gateway.call("sandbox_interrupt", "{\"session\":\"default\"}")))
                .startsWith("Error: Missing required 'sandbox' parameter");
    }

    /** As for all other tools; the id says it all the same. */
    @Test
    void aReadingTakesASandboxToo() throws Exception {
        String arguments = "{\"execution_id\":\"%s\",\"sandbox\":\"box\",\"namespace\":\"default\"}".formatted(ID);

        JsonNode answer = gateway.call("sandbox_get_execution", arguments);

        assertThat(answer.at("/structuredContent/stdout").asString()).isEqualTo("hello");
    }

    @Test
    void theDescriptionPromisesNoVariablesOfCodeThatDoesNotReact() throws Exception {
        String question = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}";
        JsonNode tools = gateway.json(gateway.send(gateway.post(question)))
                .path("result")
                .path("tools");

        assertThat(tools.valueStream()
                        .filter(tool -> tool.path("name").asString().equals("sandbox_interrupt"))
                        .map(tool -> tool.path("description").asString()))
                .singleElement(as(STRING))
                .contains("variables stay", "does not react within 2 s, its process is ended and variables are lost");
    }

    @Test
    void whatHasEndedIsAnswerEnoughAndNoError() throws Exception {
        gateway.supervisor.ended.add(NUMBER);

        JsonNode answer = interrupt("box", ID);

        assertThat(answer.path("isError").asBoolean()).isFalse();
        assertThat(TestGateway.text(answer))
                .isEqualTo(ID + " had ended already: nothing to interrupt. sandbox_get_execution tells how.");
        assertThat(answer.path("structuredContent").path("status").asString()).isEqualTo("ended");
        assertThat(answer.path("structuredContent").path("interrupted").size()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "other | default.uid-box.1.aaaaaaaaaaaaaaaa | of another sandbox than 'other': sandbox_list",
                "box | foreign.uid-box.1.aaaaaaaaaaaaaaaa | of another sandbox than 'box': sandbox_list",
                "box | default.uid-box.9.aaaaaaaaaaaaaaaa | of an earlier pod of sandbox 'box'. It ended with that pod",
                "box | aaaaaaaaaaaaaaaa | 'execution_id' must be one that an earlier answer or sandbox_list gave",
                "no | default.uid-box.1.aaaaaaaaaaaaaaaa | Sandbox 'no' not found",
            })
    void idsThatNameNothingHereAreRefused(String sandbox, String id, String words) throws Exception {
        JsonNode answer = interrupt(sandbox, id);

        assertThat(answer.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(answer)).startsWith("Error: ").contains(words);
        assertThat(gateway.supervisor.interrupted()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"session,default", "language,python"})
    void anIdAndASessionAreTwoThings(String field, String value) throws Exception {
        JsonNode answer = gateway.call(
                "sandbox_interrupt",
                "{\"sandbox\":\"box\",\"execution_id\":\"%s\",\"%s\":\"%s\"}".formatted(ID, field, value));

        assertThat(TestGateway.text(answer))
                .isEqualTo(
                        "Error: 'execution_id' names one execution and 'session' with 'language' whatever runs there:"
                                + " give only the one or the others");
        assertThat(gateway.supervisor.verbs).isEmpty();
    }

    @Test
    void anEmptySessionIsNone() throws Exception {
        String arguments = "{\"sandbox\":\"box\",\"execution_id\":\"%s\",\"session\":\"\"}".formatted(ID);

        gateway.call("sandbox_interrupt", arguments);

        assertThat(gateway.supervisor.interrupted()).containsExactly(NUMBER);
    }
}
