package dev.sandglass.e2e.attack;

import static dev.sandglass.e2e.support.TextOracle.canBeRead;
import static dev.sandglass.e2e.support.TextOracle.isOurs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.ComponentHealth;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Tenant;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link TextFuzzE2E} for MCP servers: the same texts in what they are given, and in what they say. */
class TextFuzzToolServersE2E {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Its first argument has the texts, which it says in each place that a server has for one. */
    private static final String SERVER = """
            import hashlib, json, sys
            TEXTS = json.loads(sys.argv[1])
            def schema(text):
                fields = {text[:60]: {"type": "string", "description": text, "enum": [text], "default": text}}
                return {"type": "object", "title": text, "properties": {**fields, "text": {"type": "string"}}}
            TOOLS = [{"name": f"t{n}", "description": text, "inputSchema": schema(text)} for n, text in enumerate(TEXTS)]
            TOOLS += [{"name": text[:120], "description": text, "inputSchema": schema(text)} for text in TEXTS]
            TOOLS += [{"name": f"{kind}{n}", "inputSchema": {"type": "object"}} for kind in ("no", "error") for n in range(len(TEXTS))]
            def called(name, given):
                if name.startswith("no"):
                    return {"content": [{"type": "text", "text": TEXTS[int(name[2:])]}], "isError": True}
                said = {"digest": hashlib.sha256(given["text"].encode()).hexdigest(), "text": given["text"]}
                return {"content": [{"type": "text", "text": given["text"]}], "structuredContent": said}
            for line in sys.stdin:
                asked = json.loads(line)
                method, given = asked.get("method"), asked.get("params") or {}
                if "id" not in asked:
                    continue
                said = {"error": {"code": -32601, "message": "Method not found"}}
                if method == "initialize":
                    about = {"name": "".join(TEXTS), "version": TEXTS[-1]}
                    version = given["protocolVersion"]
                    said = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}}
                elif method == "tools/list":
                    said = {"result": {"tools": TOOLS}}
                elif method == "tools/call" and given["name"].startswith("error"):
                    said = {"error": {"code": -32000, "message": TEXTS[int(given["name"][5:])], "data": TEXTS}}
                elif method == "tools/call":
                    said = {"result": called(given["name"], given.get("arguments") or {})}
                print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
            """;

    /** What code in the sandbox finds to be as it was sent; it prints what differs. */
    private static final String COMPARE = """
            import hashlib, importlib, json, mcptools, pkgutil
            texts = json.loads(TEXTS)
            wrong = []
            described = {tool["name"]: tool for tool in mcptools.describe("texts")["tools"]}
            for n, text in enumerate(texts):
                digest = hashlib.sha256(text.encode()).hexdigest()
                for tool in (f"t{n}", text[:120]):
                    said = mcptools.call("texts", tool, {"text": text}, timeout_s=30)
                    if said != {"digest": digest, "text": text} or described[tool]["description"] != text:
                        wrong.append((n, tool))
                if described[f"t{n}"]["input_schema"]["properties"].keys() != {text[:60], "text"}:
                    wrong.append((n, "schema"))
                for kind in ("no", "error"):
                    try:
                        wrong.append((n, mcptools.call("texts", f"{kind}{n}", {}, timeout_s=30)))
                    except mcptools.ToolError as error:
                        if kind == "no" and error.message != text:
                            wrong.append((n, "no", error.message))
                mcptools.search(text)
                try:
                    mcptools.call(text[:120], text[:120], {"text": text}, timeout_s=30)
                    wrong.append((n, "a server"))
                except mcptools.NoSuchServer as absent:
                    str(absent)
            names = [module.name for module in pkgutil.iter_modules(importlib.import_module("mcptools.texts").__path__)]
            loaded = [importlib.import_module("mcptools.texts." + name) for name in names]
            print(wrong, len(loaded) >= 3 * len(texts))
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final ComponentHealth HEALTH = ComponentHealth.now(TENANT.kubernetes());
    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();
    private final AnyText texts = new AnyText();

    @BeforeAll
    static void begin() {
        sandbox = SANDBOXES.start(Map.of("memory", 1024));
        System.out.printf("fuzz: tool servers, seed %d, %d rounds%n", AnyText.SEED, AnyText.ROUNDS);
    }

    @AfterEach
    void nothingEnded() {
        HEALTH.isUnchanged();
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private void refuses(String tool, Map<String, Object> more) {
        var arguments = new LinkedHashMap<String, Object>(Map.of("sandbox", sandbox, "name", "refused"));
        arguments.putAll(more);
        isOurs(agent.refusal(tool, arguments));
    }

    @Test
    void whatIsNoRegistrationIsRefusedInWordsOfOurs() {
        for (String text : texts.beyondAscii(AnyText.ROUNDS, 60)) {
            refuses("mcp_register_server", Map.of("name", text, "command", "true"));
            refuses("mcp_register_server", Map.of("command", "/nowhere/" + text));
            List<String> lastWords = List.of("-c", "printf %s \"$0\" >&2; exit 3", text);
            refuses("mcp_register_server", Map.of("command", "sh", "args", lastWords));
            refuses("mcp_register_server", Map.of("command", "true", "args", List.of("${" + "A:-" + text + "}")));
            refuses("mcp_register_server", Map.of("command", "true", "env", Map.of(text, "x")));
            refuses("mcp_register_server", Map.of("command", "true", "env", Map.of("A", "${" + "B:-" + text + "}")));
            for (String field : List.of("cwd", "placement", "transport", "headers", "timeout", text)) {
                refuses("mcp_register_server", Map.of("command", "true", field, text));
            }
            refuses("mcp_register_server", Map.of("url", text));
            refuses("mcp_register_server", Map.of("url", "https://example.com/" + text, "timeout", 2));
            refuses("mcp_register_server", Map.of("url", "https://example.com/", "transport", text));
            refuses("mcp_register_server", Map.of("url", "https://example.com/", "headers", Map.of(text, "x")));
            refuses("mcp_register_server", Map.of("url", "https://example.com/", "headers", Map.of("A", text)));
            refuses("mcp_register_server", Map.of("url", "https://example.com/", "allowed_domains", List.of(text)));
            List<String> domains = List.of(text + ".example.com");
            refuses("mcp_register_server", Map.of("command", "true", "allowed_domains", domains));
            refuses("mcp_remove_server", Map.of("name", text));
        }
        isOurs(agent.call("mcp_list_servers", Map.of("sandbox", sandbox)).text());
    }

    @ParameterizedTest
    @ValueSource(strings = {"sandbox", "own"})
    void whatAServerSaysArrivesInCodeAsItIsAndInOurWordsClean(String placement) {
        // A placeholder would be refused, and a name stands once in a list.
        List<String> given = texts.some(2 * AnyText.ROUNDS, 200).stream()
                .map(text -> text.replace("${", "$ {"))
                .toList();
        Answer registered = agent.call(
                "mcp_register_server",
                Map.of(
                        "sandbox",
                        sandbox,
                        "name",
                        "texts",
                        "command",
                        "python3",
                        "placement",
                        placement,
                        "args",
                        List.of("-c", SERVER, Attack.json(given))));
        assertThat(registered.failed()).as(registered.text()).isFalse();
        isOurs(registered.text());
        canBeRead(registered.text() + registered.data());
        await("the server").atMost(PATIENCE).until(() -> agent.python(
                        sandbox, "import mcptools; print(mcptools.call('texts', 't0', {'text': 'x'})['text'])")
                .stdout()
                .equals("x\n"));

        Answer compared = agent.python(sandbox, "TEXTS = " + Attack.literal(Attack.json(given)) + "\n" + COMPARE);

        assertThat(compared.stdout()).as(compared.text()).isEqualTo("[] True\n");
        Answer listed = agent.call("mcp_list_servers", Map.of("sandbox", sandbox));
        isOurs(listed.text());
        canBeRead(listed.text() + listed.data());
        if (placement.equals("own")) {
            isOurs(await("what the server is").atMost(PATIENCE).until(this::about, about -> !about.isBlank()));
        }
        agent.call("mcp_remove_server", Map.of("sandbox", sandbox, "name", "texts"));
    }

    /** What the status of its resource says. */
    private String about() {
        return KUBECTL.run(
                "get",
                "sandboxtoolservers.sandglass.dev",
                "--selector=sandglass.dev/sandbox=" + sandbox,
                "--output=jsonpath={.items[*].status.serverInfo.name}{.items[*].status.serverInfo.version}");
    }
}
