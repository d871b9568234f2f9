package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.EndpointSession;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Programs of mcp-server-code-execution-mode with the proxies and the runtime that they know. */
class CodeModeServersE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static EndpointSession session;
    private static String sandbox = "";

    @BeforeAll
    static void register() {
        sandbox = SANDBOXES.start();
        SANDBOXES
                .agent()
                .call("sandbox_write_file", Map.of("sandbox", sandbox, "path", "server.py", "content", Sums.SERVER));
        Answer answer = SANDBOXES
                .agent()
                .call(
                        "mcp_register_server",
                        Map.of("sandbox", sandbox, "name", "sums", "command", "python3", "args", List.of("server.py")));
        assertThat(answer.failed()).as(answer.text()).isFalse();
        session = EndpointSession.begin(Installation.current(), "/mcp/code-mode?output=json&sandbox=" + sandbox);
    }

    @AfterAll
    static void end() {
        session.end();
    }

    private static String run(String code, String... servers) {
        return session.call("run_python", Map.of("code", code, "servers", List.of(servers)));
    }

    @Test
    void aProgramCallsTheServersThatItNames() {
        assertThat(run("""
                        result = await mcp_sums.Add_Numbers(a=40, b=2)
                        print(result["structuredContent"], result["isError"], LOADED_MCP_SERVERS)
                        """, "sums")).contains("{'sum': 42} False ('sums',)", "\\\"servers\\\":[\\\"sums\\\"]");
        assertThat(run("print('mcp_sums' in globals())")).contains("False");
    }

    @Test
    void theRuntimeFindsAndDescribes() {
        assertThat(run("""
                        from mcp import runtime
                        print([tool["name"] for tool in await runtime.list_tools("sums")])
                        print((await runtime.search_tool_docs("add two numbers"))[0]["call"])
                        print((await runtime.call_tool("sums", "greet", {"name": "Ann"}))["content"][0]["text"])
                        """, "sums")).contains("Add-Numbers", "await mcp_sums.Add_Numbers(...)", "Hello, Ann");
    }

    @Test
    void aServerThatIsNotThereIsNamed() {
        assertThat(run("print(1)", "others"))
                .contains("validation_error", "Unknown MCP server: others; registered are: ")
                .containsPattern("registered are: [A-Za-z0-9_, ]*\\bsums\\b");
    }

    @Test
    void aServerInAPodOfItsOwnIsLoadedToo() {
        Answer answer = SANDBOXES.callWhereThereIsRoom(
                "mcp_register_server",
                Map.of(
                        "sandbox",
                        sandbox,
                        "name",
                        "apart",
                        "command",
                        "python3",
                        "args",
                        List.of("-c", Sums.SERVER),
                        "env",
                        Map.of("GREETING", "From afar")));
        assertThat(answer.failed()).as(answer.text()).isFalse();

        // A start on a busy node outlasts the call.
        await("the server in a pod of its own").atMost(Duration.ofMinutes(5)).until(() -> run("""
                        import mcp.runtime
                        print((await mcp_apart.greet(name="Ann"))["content"][0]["text"])
                        print((await mcp_sums.Add_Numbers(a=1, b=2))["structuredContent"], mcp.runtime.discovered_servers())
                        """, "apart", "sums")
                .contains("From afar, Ann"));
        assertThat(run("print(LOADED_MCP_SERVERS)", "apart")).contains("('apart',)");
    }
}
