package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** MCP servers that agents register in pods of their own: code calls them, and reads nothing of what was given for them. */
class AgentServersE2E {

    private static final String TOKEN = "token-4b81e6";
    private static final String SERVERS = "sandboxtoolservers.sandglass.dev";
    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());

    private static String sandbox = "";
    private static String other = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
        other = SANDBOXES.start();
    }

    /** Their pods take room on a small node that classes side by side share. */
    @AfterEach
    void noServerIsLeft() {
        KUBECTL.run("delete", SERVERS, "--selector=sandglass.dev/sandbox in (%s,%s)".formatted(sandbox, other));
    }

    /** With the token as a variable, by which the server greets. */
    private Answer register(String where, String name, String token) {
        var arguments = new HashMap<String, Object>();
        arguments.put("sandbox", where);
        arguments.put("name", name);
        arguments.put("command", "python3");
        arguments.put("args", List.of("-c", Sums.SERVER));
        arguments.put("env", Map.of("GREETING", token));
        return SANDBOXES.callWhereThereIsRoom("mcp_register_server", arguments);
    }

    /** The answer to a registration, in a pod of its own, of a server that ends at once. */
    private Answer registerOneThatEnds(String name) {
        return SANDBOXES.callWhereThereIsRoom(
                "mcp_register_server",
                Map.of(
                        "sandbox",
                        sandbox,
                        "name",
                        name,
                        "placement",
                        "own",
                        "command",
                        "python3",
                        "args",
                        List.of("-c", "import sys; sys.exit('no key was given')")));
    }

    /** Until code can call it: a start on a busy node outlasts the call. */
    private Answer registered(String where, String name, String token) {
        Answer answer = register(where, name, token);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        await("the server '%s'".formatted(name)).atMost(PATIENCE).until(() -> agent.python(
                        where, "import mcptools; print(mcptools.call('%s', 'greet', {'name': 'x'}))".formatted(name))
                .stdout()
                .contains(token));
        return answer;
    }

    private Answer python(String where, String code) {
        Answer answer = agent.python(where, code);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer;
    }

    /** What a run printed that began elsewhere than in the default session, which others use meanwhile. */
    private String ended(String id) {
        return await("the end of the run")
                .atMost(PATIENCE.multipliedBy(2))
                .until(
                        () -> agent.call("sandbox_get_execution", Map.of("execution_id", id, "wait", 10)),
                        answer -> !answer.status().equals("running"))
                .stdout();
    }

    /** Names of the resources of that server of that sandbox. */
    private static List<String> resources(String where, String name) {
        return KUBECTL.run(
                        "get",
                        SERVERS,
                        "--selector=sandglass.dev/sandbox=" + where,
                        "--output=go-template={{range .items}}{{.metadata.name}} "
                                + "{{index .metadata.annotations \"sandglass.dev/given-name\"}}{{\"\\n\"}}{{end}}")
                .lines()
                .filter(line -> line.endsWith(" " + name))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
    }

    private static boolean isThere(String kind, String name) {
        return !KUBECTL.run("get", kind, name, "--ignore-not-found", "--output=name")
                .isBlank();
    }

    @Test
    void codeCallsAServerOfItsOwnAndReadsNoneOfItsValues() {
        Answer answer = registered(sandbox, "keeper", TOKEN);
        assertThat(answer.text()).doesNotContain(TOKEN);

        // The control: the server itself has the token.
        Answer read = python(sandbox, """
                import glob, os
                from mcptools.keeper.greet import Params, run
                import mcptools
                wanted = "token-" + "4b81e6"
                print(wanted in run(Params(name="Ann")))
                seen = [wanted in str(dict(os.environ)), wanted in str(mcptools.servers()), wanted in str(mcptools.describe("keeper"))]
                for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
                    try:
                        seen.append(wanted.encode() in open(path, "rb").read())
                    except OSError:
                        pass
                for root in ("/workspace", "/run", "/var/run", "/etc", "/tmp", "/mnt"):
                    for folder, _, files in os.walk(root):
                        for file in files:
                            try:
                                with open(os.path.join(folder, file), "rb") as opened:
                                    seen.append(wanted.encode() in opened.read(1 << 20))
                            except OSError:
                                pass
                print(len(seen) > 10, any(seen))
                """);
        assertThat(read.stdout()).isEqualTo("True\nTrue False\n");

        // Another replica than the one that started it hears of it a moment later.
        String listed = await("the server in the list")
                .until(
                        () -> agent.call("mcp_list_servers", Map.of("sandbox", sandbox))
                                .text(),
                        told -> told.contains("keeper: running, in a pod of its own"));
        assertThat(listed).doesNotContain(TOKEN);
        String resource = resources(sandbox, "keeper").getFirst();
        assertThat(KUBECTL.run("get", SERVERS, resource, "--output=yaml")).doesNotContain(TOKEN);
        assertThat(KUBECTL.run("get", "sandboxes.sandglass.dev", resource + "-mcp", "--output=yaml"))
                .doesNotContain(TOKEN);
    }

    @Test
    void twoSandboxesHaveEachTheirOwnOfOneName() {
        registered(sandbox, "twin", "first-1a");
        Answer absent = agent.python(other, "import mcptools; mcptools.call('twin', 'greet', {'name': 'x'})");
        assertThat(absent.failed()).isTrue();
        assertThat(absent.text()).contains("NoSuchServer");
        assertThat(agent.call("mcp_list_servers", Map.of("sandbox", other)).text())
                .doesNotContain("twin");
        assertThat(agent.refusal("mcp_remove_server", Map.of("sandbox", other, "name", "twin")))
                .contains("'twin'");

        registered(other, "twin", "second-2b");

        String greet = "import mcptools; print(mcptools.call('twin', 'greet', {'name': 'x'}))";
        assertThat(python(sandbox, greet).stdout()).isEqualTo("first-1a, x\n");
        assertThat(python(other, greet).stdout()).isEqualTo("second-2b, x\n");
    }

    @Test
    void whatIsRemovedLeavesNothing() {
        registered(sandbox, "leaving", TOKEN);
        String resource = resources(sandbox, "leaving").getFirst();
        String secret = "sandglass-mcp-agent-" + resource;
        String pod = KUBECTL.field(resource + "-mcp", ".status.podName");
        assertThat(isThere("secret", secret)).isTrue();
        assertThat(isThere("pod", pod)).isTrue();

        assertThat(agent.call("mcp_remove_server", Map.of("sandbox", sandbox, "name", "leaving"))
                        .text())
                .isEqualTo("MCP server 'leaving' of sandbox '%s' is removed.".formatted(sandbox));

        await("nothing of it")
                .atMost(PATIENCE)
                .until(() -> !isThere(SERVERS, resource)
                        && !isThere("secret", secret)
                        && !isThere("sandboxes.sandglass.dev", resource + "-mcp")
                        && !isThere("pod", pod));
        assertThat(agent.python(sandbox, "import mcptools; mcptools.call('leaving', 'greet', {'name': 'x'})")
                        .text())
                .contains("NoSuchServer");
    }

    @Test
    void aNameThatIsTakenIsRegisteredAnewWithOtherValues() {
        registered(sandbox, "again", "before-3c");
        String before = resources(sandbox, "again").getFirst();

        registered(sandbox, "again", "after-4d");

        await("the one before to be gone")
                .atMost(PATIENCE)
                .until(() -> !isThere("secret", "sandglass-mcp-agent-" + before) && !isThere(SERVERS, before));
        assertThat(resources(sandbox, "again")).hasSize(1);
    }

    /** Calls on and on while the name is registered anew: each is answered, by the one or by the other. */
    @Test
    void codeCallsTheFormerOneUntilTheNewOneRuns() {
        registered(sandbox, "steady", "before-5e");
        String before = resources(sandbox, "steady").getFirst();
        Map<String, Object> run =
                Map.of("sandbox", sandbox, "session", "steady", "background", true, "timeout", 300, "code", """
                import time, mcptools
                seen, failures, end = [], [], time.monotonic() + 240
                while time.monotonic() < end and not (seen and seen[-1].startswith("after-6f")):
                    try:
                        seen.append(mcptools.call("steady", "greet", {"name": "x"}))
                    except mcptools.ToolRunnerError as problem:
                        failures.append(type(problem).__name__)
                    if len(seen) == 1:
                        print("calls", flush=True)
                    time.sleep(0.3)
                # A call that was under way at the moment of the change ends with the former one.
                print(sorted({greeting.partition(",")[0] for greeting in seen}), len(failures) <= 1)
                """);
        String id = agent.call("sandbox_run_code", run).executionId();
        await("its first call").atMost(PATIENCE).until(() -> agent.call(
                        "sandbox_get_execution", Map.of("execution_id", id, "wait", 0))
                .stdout()
                .contains("calls"));

        registered(sandbox, "steady", "after-6f");

        assertThat(ended(id)).contains("['after-6f', 'before-5e'] True");
        await("the one before to be gone").atMost(PATIENCE).until(() -> !resources(sandbox, "steady")
                .contains(before));
    }

    @Test
    void theFormerOneStaysIfTheNewOneDoesNotStart() {
        registered(sandbox, "kept", "first-7a");
        String before = resources(sandbox, "kept").getFirst();

        Answer answer = registerOneThatEnds("kept");

        // On a node that has no room for its pod in time, the answer comes before the end.
        if (!answer.text().startsWith("[starting]")) {
            assertThat(answer.text())
                    .contains("no key was given", "Code still calls the server that was registered as 'kept' before");
        }
        await("the new one to be gone").atMost(PATIENCE).until(() -> resources(sandbox, "kept")
                .equals(List.of(before)));
        assertThat(python(sandbox, "import mcptools; print(mcptools.call('kept', 'greet', {'name': 'x'}))")
                        .stdout())
                .isEqualTo("first-7a, x\n");
    }

    @Test
    void theAnswerNamesTheModulesWhichAreThereByThen() {
        Answer answer = register(sandbox, "named", TOKEN);

        // A start on a busy node outlasts the call; then the functions are written behind it.
        if (!answer.text().startsWith("[starting]")) {
            assertThat(answer.text())
                    .contains("add_numbers (Add-Numbers): Adds two numbers.", "from mcptools.named.<tool> import");
        }
        await("the functions").atMost(PATIENCE).until(() -> agent.python(
                        sandbox, "import os; print(sorted(os.listdir('/workspace/mcptools/named')))")
                .stdout()
                .contains("'add_numbers.py', 'fail.py', 'greet.py'"));
    }

    @Test
    void itGoesWithItsSandbox() {
        String brief = SANDBOXES.start();
        registered(brief, "brief", TOKEN);
        String resource = resources(brief, "brief").getFirst();

        agent.call("sandbox_stop", Map.of("sandbox", brief, "delete", true));

        await("nothing of it")
                .atMost(PATIENCE)
                .until(() -> !isThere(SERVERS, resource) && !isThere("secret", "sandglass-mcp-agent-" + resource));
    }

    @Test
    void aServerThatEndsAtOnceSaysItsLastWordsAndLeavesNothing() {
        Answer answer = registerOneThatEnds("broken");

        // On a node that has no room for its pod in time, the answer comes before the end.
        if (!answer.text().startsWith("[starting]")) {
            assertThat(answer.failed()).isTrue();
            assertThat(answer.text()).contains("Not registered: ", "no key was given");
            await("no resource").atMost(PATIENCE).until(() -> resources(sandbox, "broken")
                    .isEmpty());
        }
    }

    @Test
    void aHostThatTheListOfAServerRefusesIsNamedWithWhatOpensIt() {
        Answer answer = agent.call(
                "mcp_register_server",
                Map.of(
                        "sandbox",
                        sandbox,
                        "name",
                        "closed",
                        "allowed_domains",
                        List.of("allowed.example.com"),
                        "command",
                        "python3",
                        "args",
                        List.of("-c", "import urllib.request as r; r.urlopen('https://refused.example.com/')")));

        // On a node that has no room for its pod in time, the answer comes before the end.
        if (!answer.text().startsWith("[starting]")) {
            assertThat(answer.failed()).as(answer.text()).isTrue();
            assertThat(answer.text())
                    .contains("Not registered: ", "\"refused.example.com:443\"", "may not reach", "'allowed_domains'");
        }
    }
}
