package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** MCP servers that the sandboxes of a namespace share, each in a pod of its own. */
class SharedServersE2E {

    private static final String CREDENTIAL = "credential-9f2c71";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());
    private static final SharedServer SUMS = new SharedServer(KUBECTL, "shared-sums");
    private static final SharedServer CHOSEN = new SharedServer(KUBECTL, "shared-chosen");

    private static String sandbox = "";
    private static String other = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
        other = SANDBOXES.start();
        KUBECTL.run("label", "sandboxes.sandglass.dev", sandbox, "team=numbers");
        SUMS.apply("GREETING", CREDENTIAL, Map.of("tools", Map.of("deny", List.of("fail"))));
        CHOSEN.apply(
                "GREETING", CREDENTIAL, Map.of("sandboxSelector", Map.of("matchLabels", Map.of("team", "numbers"))));
        SUMS.awaitAnswer(SANDBOXES.agent(), sandbox);
        SUMS.awaitAnswer(SANDBOXES.agent(), other);
        CHOSEN.awaitAnswer(SANDBOXES.agent(), sandbox);
    }

    @AfterAll
    static void delete() {
        SUMS.delete();
        CHOSEN.delete();
    }

    private Answer python(String where, String code) {
        Answer answer = agent.python(where, code);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer;
    }

    @Test
    void codeOfTwoSandboxesCallsOneServer() throws Exception {
        String code = """
                import asyncio
                from mcptools.shared_sums.add_numbers import Params, run_async
                answers = await asyncio.gather(*(run_async(Params(a=n, b=1)) for n in range(40)))
                print([one.sum for one in answers] == list(range(1, 41)))
                """;
        var calls = new ArrayList<Callable<Answer>>();
        calls.add(() -> python(sandbox, code));
        calls.add(() -> python(other, code));

        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Answer> each : threads.invokeAll(calls)) {
                assertThat(each.get().stdout()).isEqualTo("True\n");
            }
        }
    }

    @Test
    void javaScriptCallsItToo() {
        Answer answer =
                agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "language", "javascript", "code", """
                        const { add_numbers } = await import('mcptools/shared_sums');
                        console.log((await add_numbers({a: 40, b: 2})).sum);
                        """));

        assertThat(answer.stdout()).as(answer.text()).isEqualTo("42\n");
    }

    @Test
    void aProgramCallsItToo() {
        String program = """
                import mcptools
                print(mcptools.call("shared_sums", "Add-Numbers", {"a": 40, "b": 2})["sum"])
                """;

        assertThat(agent.command(other, "python3", "-c", program).stdout()).isEqualTo("42\n");
    }

    @Test
    void agentsSeeIt() {
        Answer answer = agent.call("mcp_list_servers", Map.of("sandbox", sandbox));

        assertThat(answer.text()).contains("shared_sums");
    }

    /** The controls: another tool of the same server, and the same tool of one without that rule. */
    @Test
    void aToolThatIsDeniedIsNeitherListedNorCalled() {
        Answer answer = python(sandbox, """
                import mcptools
                print(mcptools.call("shared_sums", "Add-Numbers", {"a": 1, "b": 1})["sum"])
                for server in ("shared_sums", "shared_chosen"):
                    print(sorted(tool["name"] for tool in mcptools.describe(server)["tools"]))
                try:
                    mcptools.call("shared_sums", "fail", {})
                except mcptools.NotAllowed as refusal:
                    print("refused")
                """);

        assertThat(answer.stdout())
                .isEqualTo("2\n['Add-Numbers', 'greet']\n['Add-Numbers', 'fail', 'greet']\nrefused\n");
    }

    /** The control: the sandbox that the selector chooses. */
    @Test
    void aSandboxThatIsNotChosenHasNoSuchServer() {
        String code = """
                import mcptools
                try:
                    print(mcptools.call("shared_chosen", "Add-Numbers", {"a": 1, "b": 1})["sum"])
                except mcptools.NoSuchServer as absent:
                    print("no such server")
                print(any(one["name"] == "shared_chosen" for one in mcptools.servers()))
                """;

        assertThat(python(sandbox, code).stdout()).isEqualTo("2\nTrue\n");
        assertThat(python(other, code).stdout()).isEqualTo("no such server\nFalse\n");
    }

    @Test
    void agentsReachNoPodOfAServer() {
        python(sandbox, "import mcptools; mcptools.call('shared_sums', 'Add-Numbers', {'a': 1, 'b': 1})");
        String child = SUMS.child();

        assertThat(agent.call("sandbox_list", Map.of()).text())
                .contains(sandbox)
                .doesNotContain(child);
        assertThat(agent.refusal("sandbox_run_code", Map.of("sandbox", child, "code", "1")))
                .contains(child);
        assertThat(agent.refusal("sandbox_read_file", Map.of("sandbox", child, "path", "x")))
                .contains(child);
        assertThat(agent.refusal("sandbox_stop", Map.of("sandbox", child, "delete", true)))
                .contains(child);
    }

    /** The control: the server itself, which answers with the variable. */
    @Test
    void credentialsOfAServerAreNotInTheSandbox() {
        Answer answer = python(sandbox, """
                import glob, mcptools, os
                print("credential-" in mcptools.call("shared_sums", "greet", {"name": "Ann"}))
                wanted = "credential-" + "9f2c71"
                seen = [wanted in str(dict(os.environ)), wanted in str(mcptools.servers())]
                for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
                    try:
                        seen.append(wanted.encode() in open(path, "rb").read())
                    except OSError:
                        pass
                for path in glob.glob("/workspace/mcptools/**", recursive=True):
                    if os.path.isfile(path):
                        seen.append(wanted in open(path, errors="replace").read())
                print(len(seen) > 4, any(seen))
                """);

        assertThat(answer.stdout()).isEqualTo("True\nTrue False\n");
    }

    @Test
    void aServerIsStartedAgainAfterItsPodIsGone() {
        String call = "import mcptools; print(mcptools.call('shared_sums', 'Add-Numbers', {'a': 1, 'b': 2})['sum'])";
        python(sandbox, call);
        KUBECTL.run("delete", "pod", KUBECTL.field(SUMS.child(), ".status.podName"), "--wait=true");

        await("the server's next pod")
                .atMost(Duration.ofMinutes(5))
                .until(() -> agent.python(sandbox, call).stdout().equals("3\n"));
    }

    @Test
    void itsConditionsTellThatItIsReady() {
        SUMS.awaitReady();

        assertThat(SUMS.shown()).contains("shared-sums", "True");
    }

    @Test
    void aCallThatCodeGivesUpDoesNotEndTheExecution() {
        Answer answer = python(sandbox, """
                import asyncio
                from mcptools.shared_sums.greet import Params, run_async
                try:
                    await asyncio.wait_for(run_async(Params(name="wait")), 0.001)
                except TimeoutError:
                    print("given up")
                print(await run_async(Params(name="Ann")) is not None)
                """);

        assertThat(answer.stdout()).isEqualTo("given up\nTrue\n");
    }
}
