package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/** The rows M5 to M33 of the contracts, as far as they are texts and shapes that a caller sees. */
class ToolContractTest {

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

    private String text(String tool, String arguments) throws Exception {
        return TestGateway.text(gateway.call(tool, arguments));
    }

    /** Tool, arguments, text of the answer; the rows of the contract are named in front. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "M14 | sandbox_start | {'sandbox':'x'} | Sandbox x started successfully",
                "M14 | sandbox_start | {'sandbox':'My_Box','namespace':'default'} | Sandbox My_Box started successfully",
                "M16 | sandbox_stop | {'sandbox':'box'} | Sandbox box stopped successfully",
                "M16 | sandbox_stop | {'sandbox':'box','delete':true} | Sandbox box stopped successfully. It is deleted,"
                        + " with its files.",
                "M16 | sandbox_stop | {'sandbox':'no'} | Error: Sandbox stop failed: Sandbox 'no' not found in namespace"
                        + " 'default'. There is nothing to stop; sandbox_list shows what there is.",
                "M17 | sandbox_run_code | {'sandbox':'box','code':'print hi','language':'python'} | hi",
                "M19 | sandbox_run_command | {'sandbox':'box','command':'ls','args':[]} | (no output)",
                "I13 | sandbox_reset | {'sandbox':'box'} | Session 'default' is fresh: its variables are gone, files and"
                        + " packages are kept.",
                "P12 | sandbox_reset | {'sandbox':'box','session':'x'} | There is no session 'x' yet: nothing to reset.",
                "P12 | sandbox_close_session | {'sandbox':'box','session':'x'} | There is no session 'x' yet: nothing to"
                        + " close.",
                "P12 | sandbox_interrupt | {'sandbox':'box','session':'x'} | There is no session 'x' yet: nothing to"
                        + " interrupt.",
                "P10 | sandbox_close_session | {'sandbox':'box'} | Session 'default' is closed; its variables are"
                        + " gone, files are kept.",
                "P11 | sandbox_interrupt | {'sandbox':'box'} | Nothing was running in session 'default'.",
                "M29 | sandbox_reset | {'sandbox':'no'} | Error: Sandbox 'no' not found in namespace 'default'. Call"
                        + " sandbox_start with this name to create it.",
                "M27 | sandbox_start | {'sandbox':''} | Error: Sandbox name cannot be empty",
                "M27 | sandbox_start | {'sandbox':'-a'} | Error: Sandbox name must start with an alphanumeric character",
                "M27 | sandbox_start | {'sandbox':'a b'} | Error: Sandbox name can only contain alphanumeric characters,"
                        + " hyphens, or underscores",
                "M27 | sandbox_start | {'sandbox':'a','namespace':'-a'} | Error: Namespace must start with an alphanumeric"
                        + " character",
                "M28 | sandbox_start | {'sandbox':'a','namespace':'*'} | Error: Wildcard namespace (*) is not valid for"
                        + " sandbox creation",
                "M28 | sandbox_stop | {'sandbox':'a','namespace':'*'} | Error: Wildcard namespace (*) is for sandbox_list"
                        + " and sandbox_get_metrics alone; name one namespace, or leave it out for your own",
                "M29 | sandbox_run_code | {'sandbox':'no','code':'1','start':'never'} | Error: Sandbox 'no' not found in namespace"
                        + " 'default'. Call sandbox_start with this name to create it.",
                "M31 | sandbox_run_code | {'code':'1'} | Error: Missing required 'sandbox' parameter for portal"
                        + " request: give the name of the sandbox",
                "M31 | sandbox_run_code | {'sandbox':'box'} | Error: Missing required 'code' parameter",
                "M31 | sandbox_run_command | {'sandbox':'box'} | Error: Missing required 'command' parameter",
                "M32 | sandbox_run_code | {'sandbox':'box','code':'1','language':'cobol'} | Error: Unsupported language:"
                        + " cobol. Use 'python', 'nodejs' or 'bash'; sandbox_run_command runs any other program that the"
                        + " image has.",
                "M33 | sandbox_get_metrics | {'sandbox':'no'} | Error: Get metrics failed: Sandbox 'no' not found in"
                        + " namespace 'default'. Call sandbox_start with this name to create it.",
            })
    void textsAreThoseOfTheContract(String row, String tool, String arguments, String text) throws Exception {
        assertThat(text(tool, arguments.replace('\'', '"'))).as(row).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "sandbox_run_code | {'sandbox':'box','code':'1','session':'a/b'} | 'session' must be 1 to 63 letters",
                "sandbox_reset | {'sandbox':'box','session':' '} | 'session' must be 1 to 63 letters",
                "sandbox_close_session | {'sandbox':'box','language':'Nodes'} | Unsupported language: Nodes. Use 'python',",
                "sandbox_reset | {'sandbox':'box','language':'bash'} | 'language' must be 'python' or 'nodejs' here: bash",
                "sandbox_run_code | {'sandbox':'box','code':'1','language':'TypeScript'} | Unsupported language: TypeScript."
                        + " Leave out the types and give \"language\": \"nodejs\".",
                "sandbox_run_code | {'sandbox':'box','code':'1','start':'always'} | 'start' must be 'auto' or 'never'",
                "sandbox_run_code | {'sandbox':'box','code':'1','python_env':' '} | 'python_env' must be a name (1 to 63",
                "sandbox_start | {'sandbox':'a','config':{'volumes':['a:b']}} | 'config.volumes[0]': 'b' is not a path to",
                "sandbox_start | {'sandbox':'a','config':{'volumes':['/home:/data']}} | 'config.volumes[0]' names a path of"
                        + " a host: '/home:/data'. A sandbox does not see the files of any host. Name a",
                "sandbox_start | {'sandbox':'a','config':{'workspace':{}}} | Missing required 'config.workspace.size'",
                "sandbox_start | {'sandbox':'a','config':[]} | 'config' must be an object",
                "sandbox_start | {'sandbox':'a','config':{'memory':0}} | 'config.memory' must be a number of MiB",
                "sandbox_start | {'sandbox':'a','config':{'memory':'lots'}} | 'config.memory' must be a number of MiB",
                "sandbox_start | {'sandbox':'a','config':{'cpus':-1}} | 'config.cpus' must be a number greater than 0",
                "sandbox_start | {'sandbox':'a','config':{'envs':['X']}} | 'config.envs[0]' must be of the form KEY=VALUE",
                "sandbox_start | {'sandbox':'a','config':{'envs':{'X':1}}} | 'config.envs.X' must be a text",
                "sandbox_start | {'sandbox':'a','config':{'envs':{'LD_PRELOAD':'x'}}} | 'config.envs': environment",
                "sandbox_start | {'sandbox':7} | 'sandbox' must be a text",
                "sandbox_run_code | {'sandbox':'box','code':'1','timeout':0} | 'timeout' must be a number of seconds from"
                        + " 0.1 to 3600",
                "sandbox_run_code | {'sandbox':'box','code':'1','timeout':3601} | 'timeout' must be a number of seconds",
                "sandbox_run_code | {'sandbox':'box','code':'1','timeout':'9s'} | 'timeout' must be a number of seconds",
                "sandbox_run_code | {'sandbox':'box','code':'1','wait':-1} | 'wait' must be a number of seconds from 0",
                "sandbox_run_code | {'sandbox':'box','code':'1','background':'yes'} | 'background' must be true or false",
                "sandbox_run_code | {'sandbox':'box','code':'1','max_output_chars':0} | 'max_output_chars' must be a"
                        + " whole number from 1",
                "sandbox_run_command | {'sandbox':'box','command':'ls','args':'-l -a'} | 'args' must be a list of at most"
                        + " 256 texts",
                "sandbox_run_command | {'sandbox':'box','command':'ls','args':[1]} | 'args[0]' must be a text",
                "sandbox_run_command | {'sandbox':'box','command':' '} | 'command' must not be empty",
                "sandbox_get_execution | {'execution_id':'x'} | 'execution_id' must be one that an earlier answer or",
                "sandbox_run_code | {'sandbox':'box','code':'1','timeuot':5} | 'timeuot' is not known (did you mean 'timeout'?); known are background,"
                        + " code, envs",
                "sandbox_stop | {'sandbox':'box','force':true} | 'force' is not known; known are delete, namespace,"
                        + " sandbox",
                "sandbox_get_execution | {} | Missing required 'execution_id' parameter",
            })
    void brokenArgumentsAreNamedWithTheirRule(String tool, String arguments, String error) throws Exception {
        JsonNode result = gateway.call(tool, arguments.replace('\'', '"'));

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).startsWith("Error: " + error);
    }

    @Test
    void startPassesTheConfigurationOn() throws Exception {
        gateway.call("sandbox_start", """
                {"sandbox":"a","config":{"image":"microsandbox/python","memory":1024,"cpus":1.5,"disk":"1Gi",\
                "envs":["PYTHONPATH=/workspace/lib","EMPTY="]}}""");
        gateway.call("sandbox_start", "{\"sandbox\":\"a\",\"config\":{\"envs\":{\"A\":\"b\"},\"cpus\":\"500m\"}}");

        assertThat(gateway.sandboxes.configs)
                .containsExactly(
                        new SandboxConfig(
                                "microsandbox/python",
                                "1024Mi",
                                "1.5",
                                "1Gi",
                                Map.of("PYTHONPATH", "/workspace/lib", "EMPTY", "")),
                        new SandboxConfig(null, null, "500m", null, Map.of("A", "b")));
        assertThat(gateway.sandboxes.orders).first().isEqualTo("start sandglass-default/a by alice");
    }

    @Test
    void aStartThatTakesLongIsToldAsSuch() throws Exception {
        stop();
        gateway = TestGateway.hasty();
        gateway.sandboxes.startsAnswer(Mono.never());

        JsonNode result = gateway.call("sandbox_start", "{\"sandbox\":\"slow\"}");

        assertThat(TestGateway.text(result))
                .isEqualTo("Sandbox slow was started, but timed out waiting for it to be fully running."
                        + " It may still be initializing. Call sandbox_start again with the same arguments to go on"
                        + " waiting.");
        assertThat(result.path("isError").asBoolean()).isFalse();
        assertThat(result.path("structuredContent").path("status").asString()).isEqualTo("starting");
    }

    @Test
    void aStartThatCannotSucceedFailsWithItsCause() throws Exception {
        var ref = new SandboxRef("default", "sandglass-default", "bad", "bad");
        gateway.sandboxes.startsAnswer(
                Mono.error(new SandboxProblem.StartFailed(ref, "ImageForbidden", "image x is not allowed")));

        JsonNode result = gateway.call("sandbox_start", "{\"sandbox\":\"bad\"}");

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result))
                .isEqualTo("Error: Sandbox start failed: Sandbox 'bad' cannot start (ImageForbidden): image x is not"
                        + " allowed");
    }

    @Test
    void aStoppedSandboxMustBeStartedAndASleepingOneComesBack() throws Exception {
        var ref = new SandboxRef("default", "sandglass-default", "s", "s");
        gateway.sandboxes.put(new SandboxState.Stopped(ref, "u"));
        assertThat(text("sandbox_run_code", "{\"sandbox\":\"s\",\"code\":\"1\"}"))
                .isEqualTo(
                        "Error: Sandbox 's' is not running: it was stopped. Call sandbox_start with this name first.");

        gateway.sandboxes.put(new SandboxState.Asleep(ref, "u", "Idle"));
        JsonNode resumed = gateway.call("sandbox_run_code", "{\"sandbox\":\"s\",\"code\":\"print hi\"}");

        assertThat(TestGateway.text(resumed)).startsWith("hi\n").contains("variables of earlier calls were lost");
        assertThat(resumed.path("structuredContent").path("kernel_restarted").asBoolean())
                .isTrue();
        assertThat(gateway.sandboxes.orders).contains("resume s");
    }

    @Test
    void everyRunNotesTheUseOfItsSandbox() throws Exception {
        gateway.call("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"1\",\"timeout\":2.5}");

        assertThat(gateway.sandboxes.busy).containsExactly(Duration.ofMillis(2500));
    }

    @Test
    void anExceptionIsAnErrorWithItsTraceback() throws Exception {
        JsonNode result = gateway.call("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"raise\"}");

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).isEqualTo("[error] ZeroDivisionError\nTraceback");
        JsonNode facts = result.path("structuredContent");
        assertThat(facts.path("status").asString()).isEqualTo("error");
        assertThat(facts.path("error").path("name").asString()).isEqualTo("ZeroDivisionError");
        assertThat(facts.has("exit_code")).isTrue();
    }

    @Test
    void aCommandTellsItsExitCode() throws Exception {
        JsonNode result =
                gateway.call("sandbox_run_command", "{\"sandbox\":\"box\",\"command\":\"ls\",\"args\":[\"a\",\"b\"]}");

        assertThat(result.path("structuredContent").path("exit_code").asInt()).isEqualTo(2);
        assertThat(TestGateway.text(result)).isEqualTo("[exit code 2]\na b");
    }

    @Test
    void aCallThatWaitsNoLongerTellsHowToReadOn() throws Exception {
        JsonNode result = gateway.call("sandbox_run_code", "{\"sandbox\":\"box\",\"code\":\"hang\",\"wait\":0.1}");

        assertThat(result.path("isError").asBoolean()).isFalse();
        JsonNode facts = result.path("structuredContent");
        assertThat(facts.path("status").asString()).isEqualTo("running");
        String id = facts.path("execution_id").asString();
        assertThat(id).startsWith("default.uid-box.1.");
        assertThat(TestGateway.text(result)).contains("sandbox_get_execution", id);
        assertThat(gateway.supervisor.interrupted()).isEmpty();
    }

    @Test
    void aCallWhosePodEndsIsAnsweredAtOnceWithTheCause() throws Exception {
        var answer = CompletableFuture.supplyAsync(
                () -> unchecked("{\"sandbox\":\"box\",\"code\":\"hang\"}"), Thread::startVirtualThread);
        await().until(() -> gateway.supervisor.verbs.size() == 1);

        gateway.sandboxes.end("box", "The node put the pod out (Evicted)");

        JsonNode result = answer.get(10, TimeUnit.SECONDS);
        assertThat(result.path("structuredContent").path("status").asString()).isEqualTo("lost");
        assertThat(TestGateway.text(result)).contains("gone: The node put the pod out (Evicted). ");
    }

    private JsonNode unchecked(String arguments) {
        try {
            return gateway.call("sandbox_run_code", arguments);
        } catch (Exception problem) {
            throw new IllegalStateException(problem);
        }
    }

    @Tag("slow")
    @Test
    void aListSaysWhenThereAreMoreSandboxesThanItTellsOf() throws Exception {
        for (int number = 1; number < 1000; number++) {
            gateway.sandboxes.addRunning("box" + number);
        }
        assertThat(listed().path("sandboxes").size()).isEqualTo(1000);
        assertThat(listed().path("truncated").asBoolean()).isFalse();

        gateway.sandboxes.addRunning("one-more");

        assertThat(listed().path("sandboxes").size()).isEqualTo(1000);
        assertThat(listed().path("truncated").asBoolean()).isTrue();
    }

    private JsonNode listed() throws Exception {
        return gateway.call("sandbox_list", "{}").path("structuredContent");
    }
}
