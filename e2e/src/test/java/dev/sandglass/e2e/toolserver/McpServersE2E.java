package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.EndpointSession;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** MCP servers in a sandbox's own pod, whose tools code calls as functions. */
class McpServersE2E {

    private static final String FILE = "server.py";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static String sandbox;

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
        SANDBOXES.agent().call("sandbox_write_file", Map.of("sandbox", sandbox, "path", FILE, "content", Sums.SERVER));
    }

    private static Map<String, Object> with(Map<String, Object> arguments) {
        var all = new HashMap<>(arguments);
        all.put("sandbox", sandbox);
        return all;
    }

    private Answer register(String name, Map<String, Object> more) {
        var arguments = new HashMap<>(with(more));
        arguments.put("name", name);
        arguments.put("command", "python3");
        arguments.putIfAbsent("args", List.of(FILE));
        return agent.call("mcp_register_server", arguments);
    }

    private Answer registered(String name) {
        Answer answer = register(name, Map.of());
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer;
    }

    private String refusal(Map<String, Object> arguments) {
        return agent.refusal("mcp_register_server", with(arguments));
    }

    @Test
    void codeCallsTheToolsOfARegisteredServer() {
        Answer answer = registered("sums");

        assertThat(answer.text())
                .contains(
                        "add_numbers (Add-Numbers): Adds two numbers.",
                        "from mcptools.sums.<tool> import Params, run",
                        "MCP server 'sums' runs in sandbox '" + sandbox + "'")
                .doesNotContain("Not more.");
        assertThat(answer.object("server").get("version")).isEqualTo("1.5");
        assertThat(agent.python(sandbox, """
                        from mcptools.sums.add_numbers import Params, run
                        run(Params(a=40, b=2)).sum
                        """).result()).isEqualTo("42");
        assertThat(agent.python(sandbox, """
                        import asyncio
                        from mcptools.sums.greet import Params, run_async
                        await asyncio.gather(*(run_async(Params(name=name)) for name in ("Ann", "Bo")))
                        """).result()).isEqualTo("['Hello, Ann', 'Hello, Bo']");
    }

    @Test
    void aToolThatFailsRaises() {
        registered("failing");

        Answer answer = agent.python(sandbox, """
                from mcptools.failing.fail import Params, run
                run(Params())
                """);

        assertThat(answer.failed()).isTrue();
        assertThat(answer.text()).contains("ToolError", "it fails on purpose");
    }

    @Test
    void whatCodeGivesIsChecked() {
        registered("checked");

        Answer answer = agent.python(sandbox, """
                from mcptools.checked.add_numbers import Params
                Params(a=1)
                """);

        assertThat(answer.text()).contains("ValidationError");
    }

    @Test
    void aNameThatIsTakenIsRegisteredAnew() {
        registered("again");
        Answer answer = register("again", Map.of("env", List.of("GREETING=Moin"), "placement", "sandbox"));

        assertThat(answer.text()).contains("Code in the sandbox can read what you gave in 'env'.");
        assertThat(agent.python(sandbox, """
                        from mcptools.again.greet import Params, run
                        run(Params(name="Ann"))
                        """).result()).isEqualTo("'Moin, Ann'");
        assertThat(agent.call("mcp_list_servers", with(Map.of())).text())
                .containsOnlyOnce("again: running")
                .doesNotContain("Moin");
    }

    @Test
    void aServerThatIsRemovedIsCalledNoMore() {
        registered("leaving");
        assertThat(agent.call("mcp_remove_server", with(Map.of("name", "leaving")))
                        .text())
                .isEqualTo("MCP server 'leaving' of sandbox '" + sandbox + "' is removed.");

        assertThat(agent.call("mcp_list_servers", with(Map.of())).text()).doesNotContain("leaving: ");
        assertThat(agent.refusal("mcp_remove_server", with(Map.of("name", "leaving"))))
                .contains("'leaving'", "mcp_list_servers shows what there is.");
        assertThat(agent.python(sandbox, """
                        from mcptools.leaving.greet import Params, run
                        run(Params(name="Ann"))
                        """).failed()).isTrue();
    }

    @Test
    void aServerThatEndsAtOnceSaysItsLastWords() {
        Answer answer = register("broken", Map.of("args", List.of("-c", "import sys; sys.exit('no key was given')")));

        assertThat(answer.failed()).isTrue();
        assertThat(answer.text()).contains("Not registered: ", "'broken'", "no key was given");
    }

    @Test
    void aServerThatSaysNothingIsGivenUp() {
        Answer answer = register("silent", Map.of("args", List.of("-c", "import time; time.sleep(600)"), "timeout", 2));

        assertThat(answer.failed()).isTrue();
        assertThat(answer.text()).contains("Not registered: ", "'silent'", "a longer 'timeout'");
    }

    @Test
    void aPlaceholderIsRefusedByName() {
        assertThat(refusal(Map.of("name", "x", "command", "x", "env", List.of("KEY=${API_KEY}"))))
                .contains("'env.KEY' has ${API_KEY}", "variables of your machine are not known");
    }

    @Test
    void namesThatMeanSomethingAreRefused() {
        for (String name : List.of("class", "search", "mcptools")) {
            assertThat(refusal(Map.of("name", name, "command", "x"))).as(name).contains("'name' ");
        }
    }

    @Test
    void codeCallsTheToolsThatIpyboxRegisters() {
        var session = EndpointSession.begin(Installation.current(), "/mcp/ipybox");
        try {
            session.call(
                    "execute_ipython_cell",
                    Map.of("code", "_ = open('server.py', 'w').write(" + pythonText(Sums.SERVER) + ")"));
            Map<String, Object> params = Map.of("command", "python3", "args", List.of(FILE));
            assertThat(session.call("register_mcp_server", Map.of("server_name", "sums", "server_params", params)))
                    .contains("[\\\"add_numbers\\\",\\\"greet\\\",\\\"fail\\\"]");
            assertThat(session.call("execute_ipython_cell", Map.of("code", """
                            from mcptools.sums.add_numbers import Params, run
                            run(Params(a=40, b=2)).sum
                            """)))
                    .contains("\"42\"");
            session.call("reset", Map.of());
            assertThat(session.call("execute_ipython_cell", Map.of("code", """
                            from mcptools.sums.greet import Params, run
                            print(run(Params(name="Ann")))
                            """)))
                    .contains("Hello, Ann");
        } finally {
            session.end();
        }
    }

    /** Keys that users of ipybox put into 'env' were in the code's reach there. */
    @Test
    void variablesThatIpyboxIsGivenAreOutOfTheCodesReach() {
        String token = "token-7d20f3";
        var session = EndpointSession.begin(Installation.current(), "/mcp/ipybox");
        try {
            Map<String, Object> params =
                    Map.of("command", "python3", "args", List.of("-c", Sums.SERVER), "env", Map.of("GREETING", token));
            assertThat(session.call("register_mcp_server", Map.of("server_name", "keeper", "server_params", params)))
                    .contains("[\\\"add_numbers\\\",\\\"greet\\\",\\\"fail\\\"]")
                    .doesNotContain(token);

            // The folder is there before any import; the control is that the server itself has the token.
            assertThat(session.call("execute_ipython_cell", Map.of("code", """
                            import glob, os
                            print(sorted(os.listdir("mcptools/keeper"))[:2], os.path.exists("mcptools/keeper/greet.py"))
                            wanted = ("token-" + "7d20f3").encode()
                            seen = []
                            for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
                                try:
                                    seen.append(wanted in open(path, "rb").read())
                                except OSError:
                                    pass
                            print(len(seen) > 2, any(seen))
                            from mcptools.keeper.greet import Params, run
                            print(wanted.decode() in run(Params(name="Ann")))
                            """)))
                    .contains("add_numbers.py", "True\\nTrue False\\nTrue");
        } finally {
            session.end();
        }
    }

    private static String pythonText(String text) {
        return "'''" + text.replace("\\", "\\\\") + "'''";
    }
}
