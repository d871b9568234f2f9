package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

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

    /** Every optional argument of every tool, also those within another. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "sandbox_start | {'sandbox':'box'}",
                "sandbox_stop | {'sandbox':'box'}",
                "sandbox_run_code | {'sandbox':'box','code':'print 42'}",
                "sandbox_run_command | {'sandbox':'box','command':'true'}",
                "sandbox_install_packages | {'sandbox':'box','packages':['a']}",
                "sandbox_get_execution | {'execution_id':'default.uid-box.1.aaaaaaaaaaaaaaaa'}",
                "sandbox_interrupt | {'execution_id':'default.uid-box.1.aaaaaaaaaaaaaaaa'}",
                "sandbox_reset | {'sandbox':'box'}",
                "sandbox_close_session | {'sandbox':'box'}",
                "sandbox_read_file | {'sandbox':'box','path':'a'}",
                "sandbox_write_file | {'sandbox':'box','path':'a','content':''}",
                "sandbox_list_files | {'sandbox':'box'}",
                "sandbox_manage_files | {'sandbox':'box','action':'stat','path':'a'}",
                "sandbox_list | {}",
                "sandbox_get_metrics | {}",
            })
    void anEmptyTextIsNoArgument(String tool, String arguments) throws Exception {
        gateway.supervisor.files.put("a", "x");
        JsonNode schema = gateway.definition(tool).path("inputSchema");
        var given = (ObjectNode) JsonMapper.shared().readTree(arguments.replace('\'', '"'));

        for (ObjectNode call : emptied(schema, given)) {
            gateway.sandboxes.addRunning("box");
            JsonNode result = gateway.call(tool, call.toString());
            assertThat(result.path("isError").asBoolean())
                    .as(call + ": " + TestGateway.text(result))
                    .isFalse();
        }
    }

    private static List<ObjectNode> emptied(JsonNode schema, ObjectNode given) {
        var calls = new ArrayList<ObjectNode>();
        calls.add(given);
        schema.path("properties").properties().forEach(property -> {
            String name = property.getKey();
            if (!given.has(name)) {
                calls.add(given.deepCopy().put(name, ""));
            }
            property.getValue().path("properties").propertyNames().forEach(inner -> {
                ObjectNode call = given.deepCopy();
                call.putObject(name).put(inner, "");
                calls.add(call);
            });
        });
        return calls;
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
