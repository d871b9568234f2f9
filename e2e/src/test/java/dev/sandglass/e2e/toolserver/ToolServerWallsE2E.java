package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.StreamedCall;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Code looks for what a shared MCP server was given, and asks the supervisor's socket for servers of its own choice. The same
 * programs find and start it where the wall is not: in the server's pod, and by the ways that are for it.
 */
class ToolServerWallsE2E {

    private static final String SECRET = "sandglass-mcp-walls";
    private static final String TOKEN = "credential-77c0a9e215";
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Attack CREDENTIALS = Attack.named("credentials.py");
    private static final TypeReference<List<String>> WAYS = new TypeReference<>() {};

    /** Tells its token wherever a server can but in an answer that succeeds; what is in that is the server's own affair. */
    private static final String BLABS = """
            import json, os, sys
            TOKEN = os.environ["TOKEN"]
            def send(message):
                print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
            def told(asked):
                given, number = asked.get("params") or {}, asked["id"]
                if asked["method"] == "initialize":
                    about = {"name": "Blabs", "version": "1"}
                    return {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
                if asked["method"] == "tools/list":
                    return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("fail", "crash", "progress")]}
                if asked["method"] == "tools/call" and given["name"] == "progress":
                    token = (given.get("_meta") or {}).get("progressToken", number)
                    for n in range(20):
                        said = {"progressToken": token, "progress": n, "message": "progress with " + TOKEN}
                        send({"method": "notifications/progress", "params": said})
                        send({"method": "notifications/message", "params": {"level": "error", "data": "log with " + TOKEN}})
                    return {"content": [{"type": "text", "text": "done"}]}
                if asked["method"] == "tools/call" and given["name"] == "crash":
                    import ctypes
                    sys.stderr.write("about to crash with " + TOKEN + "\\n")
                    sys.stderr.flush()
                    ctypes.string_at(0)
                return None
            for line in sys.stdin:
                asked = json.loads(line)
                if "id" in asked and "method" in asked:
                    result = told(asked)
                    error = {"code": -32000, "message": "no log-in with " + TOKEN, "data": TOKEN}
                    send({"id": asked["id"], **({"error": error} if result is None else {"result": result})})
            """;

    /** What code sends to the socket; each names a server to start or to reach in a way that some protocol has. */
    private static final String FORGED = """
            import json, os, socket, struct
            def ask(asked):
                with socket.socket(socket.AF_UNIX) as link:
                    link.settimeout(20)
                    link.connect(os.environ["SANDGLASS_MCP_SOCKET"])
                    body = json.dumps({"id": 1, **asked}).encode()
                    link.sendall(struct.pack(">I", len(body)) + body)
                    file = link.makefile("rb")
                    head = file.read(4)
                    return json.loads(file.read(struct.unpack(">I", head)[0])) if head else {"error": "closed"}
            program = {"command": "touch", "args": ["/workspace/forged"], "argv": ["touch", "/workspace/forged"]}
            address = {"url": "http://127.0.0.1:8765/mcp", "headers": {"X": "y"}, "transport": "streamable_http"}
            refused, answered = 0, 0
            for server in SERVERS:
                for way in (program, address, {"server_params": program}, {"params": address}, {"api": True, **program}):
                    for op in ("mcp_register", "register", "register_mcp_server", "start", "mcp_call", "mcp_remove", "exec"):
                        reply = ask({"op": op, "name": server, "server_name": server, "server": server, **way})
                        refused += "error" in reply
                    for op in ("load", "describe", "servers"):
                        ask({"op": op, "server": server, **way})
                    reply = ask({"op": "call", "server": server, "tool": "Add-Numbers", "arguments": {"a": 1, "b": 1}, **way})
                    answered += reply.get("result", {}).get("structuredContent") == {"sum": 2}
                    for odd in (way, [way], json.dumps(way), "touch /workspace/forged", "http://127.0.0.1:8765/mcp"):
                        refused += "error" in ask({"op": "call", "server": odd, "tool": "touch", "arguments": way})
            print(refused == len(SERVERS) * 60, answered == len(SERVERS) * 5, os.path.exists("/workspace/forged"))
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());
    private static final SharedServer KEEPER = new SharedServer(KUBECTL, "walls-keeper");
    private static final SharedServer BLABBER = new SharedServer(KUBECTL, "walls-blabber");
    private static final SharedServer MAKER = new SharedServer(KUBECTL, "walls-maker");

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        KUBECTL.apply(Attack.json(Map.of(
                "apiVersion",
                "v1",
                "kind",
                "Secret",
                "metadata",
                Map.of("name", SECRET),
                "stringData",
                Map.of("token", TOKEN))));
        sandbox = SANDBOXES.start();
        KEEPER.applyKeyed("GREETING", SECRET, "token");
        new HostileServer(SANDBOXES.agent(), sandbox, "", List.of("walls_keeper")).awaitOthers();
    }

    @AfterAll
    static void delete() {
        List.of(KEEPER, BLABBER, MAKER).forEach(SharedServer::delete);
        KUBECTL.run("delete", "secret", SECRET, "--ignore-not-found");
    }

    private String printed(String code) {
        Answer answer = agent.python(sandbox, code);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        return answer.stdout();
    }

    private static String backwards() {
        return "attack(\"" + new StringBuilder(TOKEN).reverse() + "\")";
    }

    private static List<String> waysInThePodOf(SharedServer server) {
        return CREDENTIALS.call(backwards(), code -> KUBECTL.in(server.child(), "python3", "-I", "-c", code), WAYS);
    }

    /** The control: the same program in the server's pod, which has the token in a process and in a file. */
    @Test
    void noProcessAndNoFileOfTheSandboxHasTheToken() {
        assertThat(printed("""
                import mcptools, mcptools.walls_keeper.greet as greet
                print(greet.run(greet.Params(name="Ann")).startswith("credential-"))
                """)).isEqualTo("True\n");
        assertThat(waysInThePodOf(KEEPER)).contains("environment", "files");

        // Elsewhere: the kernel above has what the call returned.
        String other = other();
        assertThat(CREDENTIALS.call(
                        backwards(),
                        code -> agent.command(other, "python3", "-I", "-c", code)
                                .stdout(),
                        WAYS))
                .isEmpty();
        assertThat(CREDENTIALS.call(
                        backwards(), code -> agent.python(other, code).stdout(), WAYS))
                .isEmpty();
    }

    /** A sandbox whose code called the server, and kept nothing of it. */
    private String other() {
        String other = SANDBOXES.start();
        Answer called = agent.python(other, """
                import mcptools, mcptools.walls_keeper.add_numbers as add
                print(add.run(add.Params(a=40, b=2)).sum, len(str(mcptools.describe("walls_keeper"))) > 100)
                """);
        assertThat(called.stdout()).as(called.text()).isEqualTo("42 True\n");
        return other;
    }

    /** The controls: the words around the token, which arrive; what a tool answers is passed on as it is. */
    @Test
    void errorsProgressAndTheEndOfAServerTellItToNobody() {
        BLABBER.applyKeyed(BLABS, "TOKEN", SECRET, "token");
        String code = """
                import mcptools
                for tool in ("progress", "fail", "crash"):
                    try:
                        print(mcptools.call("walls_blabber", tool, {}, timeout_s=60))
                    except mcptools.ToolRunnerError as error:
                        print(type(error).__name__, error)
                print(mcptools.describe("walls_blabber"))
                """;
        await("the server").atMost(PATIENCE).until(() -> agent.python(
                        sandbox, "import mcptools; print(mcptools.call('walls_blabber', 'progress'))")
                .stdout()
                .equals("done\n"));

        String told = streamed(code);

        assertThat(told).contains("done", "no log-in with …").doesNotContain(TOKEN, TOKEN.substring(11));
        assertThat(agent.call("mcp_list_servers", Map.of("sandbox", sandbox)).text() + BLABBER.shownWide())
                .doesNotContain(TOKEN);
        // The crash left no file, in its own pod either.
        assertThat(waysInThePodOf(BLABBER)).contains("files").doesNotContain("cores");
    }

    /** The answer of a run, and all that came while it ran. */
    private String streamed(String code) {
        StreamedCall call = agent.stream("sandbox_run_code", Map.of("sandbox", sandbox, "code", code));
        Answer answer = call.answer();
        return answer.text() + answer.data() + call.output();
    }

    /** The controls: the calls in between, which succeed, and a server that an administrator applies with such a program. */
    @Test
    void codeStartsAndReachesNoServerByTheSocket() {
        var sums = new HashMap<String, Object>(Map.of("sandbox", sandbox, "name", "sums", "command", "python3"));
        sums.put("args", List.of("-c", Sums.SERVER));
        Answer registered = agent.call("mcp_register_server", sums);
        assertThat(registered.failed()).as(registered.text()).isFalse();

        assertThat(printed("SERVERS = ['walls_keeper', 'sums']\n" + FORGED)).isEqualTo("True True False\n");
        assertThat(isThere(KEEPER)).isFalse();
        assertThat(printed("import mcptools; print(sorted(one['name'] for one in mcptools.servers()))"))
                .contains("'sums'", "'walls_keeper'")
                .doesNotContain("touch");

        MAKER.applyProgram("open('/workspace/forged', 'w').close()\n" + Sums.SERVER);
        new HostileServer(agent, sandbox, "", List.of("walls_maker")).awaitOthers();
        assertThat(isThere(MAKER)).isTrue();
        agent.call(
                "mcp_register_server",
                Map.of(
                        "sandbox",
                        sandbox,
                        "name",
                        "made",
                        "command",
                        "touch",
                        "args",
                        List.of("/workspace/forged"),
                        "timeout",
                        5));
        assertThat(printed("import os; print(os.path.exists('/workspace/forged'))"))
                .isEqualTo("True\n");
    }

    private static boolean isThere(SharedServer server) {
        return KUBECTL.in(server.child(), "sh", "-c", "ls -a /workspace")
                .lines()
                .anyMatch("forged"::equals);
    }
}
