package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Many models fill what they would leave out with {@code ""}, {@code false} or {@code []}. */
class EmptyArgumentsContractTest {

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

    private JsonNode call(String tool, String more) throws Exception {
        return gateway.call(tool, "{\"sandbox\":\"box\",%s}".formatted(more.replace('\'', '"')));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",'args':[]", ",'args':null"})
    void aCommandLineGoesToTheShellWithOrWithoutAnEmptyListOfArguments(String args) throws Exception {
        call("sandbox_run_command", "'command':'ls -la /workspace | head'" + args);

        assertThat(gateway.supervisor.verbs).singleElement().isInstanceOfSatisfying(Verb.Command.class, command -> {
            assertThat(command.command()).isEqualTo("sh");
            assertThat(command.args()).containsExactly("-c", "ls -la /workspace | head");
            assertThat(command.shellLine()).isTrue();
        });
    }

    @Test
    void oneArgumentIsEnoughForNoShellEvenIfItIsEmpty() throws Exception {
        call("sandbox_run_command", "'command':'my program','args':['']");

        assertThat(gateway.supervisor.verbs).singleElement().isInstanceOfSatisfying(Verb.Command.class, command -> {
            assertThat(command.command()).isEqualTo("my program");
            assertThat(command.args()).containsExactly("");
        });
    }

    @Test
    void anEmptySessionAndEnvironmentAreThoseOfACallWithoutThem() throws Exception {
        call("sandbox_run_code", "'code':'1','session':'','python_env':'','language':'nodejs'");

        assertThat(gateway.supervisor.verbs).singleElement().isInstanceOfSatisfying(Verb.Execute.class, execute -> {
            assertThat(execute.session()).isEqualTo("default");
            assertThat(execute.pythonEnv()).isNull();
        });
        assertThat(call("sandbox_reset", "'session':''")
                        .at("/structuredContent/session")
                        .asString())
                .isEqualTo("default");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'action':'stat','path':'a','to':'','recursive':false | false",
                "'action':'mkdir','path':'b','to':'','recursive':false | false",
                "'action':'move','path':'a','to':'c','recursive':false | false",
                "'action':'delete','path':'a','to':'','recursive':false | false",
                "'action':'move','path':'a','to':'' | true",
                "'action':'stat','path':'a','to':'b' | true",
                "'action':'stat','path':'a','recursive':true | true",
            })
    void whatAnActionHasNoUseForMayBeEmpty(String arguments, boolean refused) throws Exception {
        gateway.supervisor.files.put("a", "x");

        JsonNode result = call("sandbox_manage_files", arguments);

        assertThat(result.path("isError").asBoolean())
                .as(TestGateway.text(result))
                .isEqualTo(refused);
    }
}
