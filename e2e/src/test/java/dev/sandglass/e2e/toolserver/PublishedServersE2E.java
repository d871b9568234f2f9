package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Registries;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Servers that people use, from npm and PyPI, unchanged, several at once in two sandboxes. */
class PublishedServersE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Map<String, Object> ROOMY = Map.of("memory", 1536);

    private static String sandbox = "";
    private static String other = "";
    private static Map<String, Answer> registered = Map.of();

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void register() throws Exception {
        sandbox = SANDBOXES.start(ROOMY);
        other = SANDBOXES.start();
        Registries registries = Registries.knownTo(SANDBOXES.agent(), sandbox);
        Kubectl kubectl = Kubectl.of(Installation.current());
        for (String each : List.of(sandbox, other)) {
            kubectl.patch(each, "{\"allowedDomains\":" + Attack.json(registries.all()) + "}");
            Registries.awaitAllowed(SANDBOXES.agent(), each, registries.all());
        }
        SANDBOXES.agent().command(sandbox, "git", "init", "-q", "/workspace/repository");
        registered = sideBySide(Map.of(
                "everything", () -> npm(sandbox, "everything", "@modelcontextprotocol/server-everything"),
                "filesystem", () -> npm(sandbox, "filesystem", "@modelcontextprotocol/server-filesystem", "/workspace"),
                "memory", () -> npm(sandbox, "memory", "@modelcontextprotocol/server-memory"),
                "gitlab", () -> npm(sandbox, "gitlab", "@zereight/mcp-gitlab"),
                "git", () -> python(sandbox, "git", "mcp-server-git", "--repository", "/workspace/repository"),
                "clock", () -> python(sandbox, "clock", "mcp-server-time"),
                "fetch", () -> python(sandbox, "fetch", "mcp-server-fetch"),
                "other's", () -> npm(other, "everything", "@modelcontextprotocol/server-everything")));
        // What takes longer than a call may is told to be starting, and goes on.
        await("downloads and starts")
                .atMost(Duration.ofMinutes(5))
                .until(() -> running(sandbox) == 7 && running(other) == 1);
    }

    private static int running(String sandbox) {
        // Classes that run beside this one share servers with all sandboxes.
        String code = "import mcptools; print(sum(one['state'] == 'running' and not one.get('shared')"
                + " for one in mcptools.servers()))";
        return Integer.parseInt(
                "0" + SANDBOXES.agent().python(sandbox, code).stdout().strip());
    }

    private static Answer npm(String sandbox, String name, String... args) {
        var all = new ArrayList<>(List.of("-y"));
        all.addAll(List.of(args));
        return register(sandbox, name, "npx", all);
    }

    private static Answer python(String sandbox, String name, String... args) {
        return register(sandbox, name, "uvx", List.of(args));
    }

    private static Answer register(String sandbox, String name, String command, List<String> args) {
        return SANDBOXES
                .agent()
                .call(
                        "mcp_register_server",
                        Map.of(
                                "sandbox",
                                sandbox,
                                "name",
                                name,
                                "command",
                                command,
                                "args",
                                args,
                                "env",
                                List.of("GITLAB_PERSONAL_ACCESS_TOKEN=none"),
                                "placement",
                                "sandbox",
                                "timeout",
                                200));
    }

    private static Map<String, Answer> sideBySide(Map<String, Callable<Answer>> calls) throws Exception {
        var answers = new HashMap<String, Answer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var running = new HashMap<String, Future<Answer>>();
            calls.forEach((name, call) -> running.put(name, threads.submit(call)));
            for (var each : running.entrySet()) {
                answers.put(each.getKey(), each.getValue().get());
            }
        }
        return answers;
    }

    private String python(String code) {
        Answer answer = agent.python(sandbox, code);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer.stdout().strip();
    }

    @Test
    void allOfThemStart() {
        registered.forEach((name, answer) ->
                assertThat(answer.failed()).as(name + ": " + answer.text()).isFalse());
        String own = "import mcptools; print(sum(not one.get('shared') for one in mcptools.servers()))";
        assertThat(python(own)).isEqualTo("7");
    }

    @Test
    void oneCallOfEach() {
        assertThat(python("""
                from mcptools.everything import echo
                print(echo.run(echo.Params(message="café")))
                """)).isEqualTo("Echo: café");
        assertThat(python("""
                from mcptools.filesystem import write_file, read_text_file
                write_file.run(write_file.Params(path="/workspace/note.txt", content="one"))
                print(read_text_file.run(read_text_file.Params(path="/workspace/note.txt")).content, open("note.txt").read())
                """)).isEqualTo("one one");
        assertThat(python("""
                import mcptools
                thing = {"name": "Ada", "entityType": "person", "observations": ["wrote a program"]}
                mcptools.call("memory", "create_entities", {"entities": [thing]})
                print(mcptools.call("memory", "read_graph")["entities"][0]["name"])
                """)).isEqualTo("Ada");
        assertThat(python("""
                from mcptools.git import git_status
                print("No commits yet" in str(git_status.run(git_status.Params(repo_path="/workspace/repository"))))
                """)).isEqualTo("True");
        assertThat(python("""
                import mcptools
                print("timezone" in str(mcptools.call("clock", "get_current_time", {"timezone": "UTC"})))
                """)).isEqualTo("True");
    }

    /** Its host is none that the sandbox may reach: what the server says of that is the tool's error. */
    @Test
    void whatTheSandboxMayNotReachItsServersMayNot() {
        assertThat(python("""
                import mcptools
                try:
                    mcptools.call("fetch", "fetch", {"url": "https://denied.example/"})
                except mcptools.ToolError as error:
                    print("refused")
                """)).isEqualTo("refused");
    }

    @Test
    void moreThanFortyToolsWithRichSchemas() {
        assertThat(python("""
                import mcptools, pkgutil, importlib
                import mcptools.gitlab
                names = [module.name for module in pkgutil.iter_modules(mcptools.gitlab.__path__)]
                modules = [importlib.import_module("mcptools.gitlab." + name) for name in names]
                print(len(modules) > 40, all(hasattr(module, "Params") for module in modules))
                print(mcptools.search("merge request")[0]["server"])
                """)).isEqualTo("True True\ngitlab");
    }

    @Test
    void manyCallsAtOnceFromTwoSandboxes() throws Exception {
        String code = """
                import asyncio
                from mcptools.everything import echo
                params = [echo.Params(message=str(n)) for n in range(200)]
                answers = await asyncio.gather(*(echo.run_async(one) for one in params))
                print(answers == [f"Echo: {n}" for n in range(200)])
                """;
        sideBySide(Map.of("one", () -> agent.python(sandbox, code), "two", () -> agent.python(other, code)))
                .forEach((name, answer) ->
                        assertThat(answer.stdout()).as(name + answer.text()).isEqualTo("True\n"));
    }

    /** The control: the same tool in the sandbox that has it. */
    @Test
    void aSandboxCallsNoServerOfAnother() {
        assertThat(agent.python(other, "import mcptools; print(mcptools.call('clock', 'get_current_time', {}))")
                        .text())
                .contains("there is no MCP server 'clock' in this sandbox; registered are: everything");
        assertThat(
                        python(
                                "import mcptools; print(bool(mcptools.call('clock', 'get_current_time', {'timezone': 'UTC'})))"))
                .isEqualTo("True");
    }
}
