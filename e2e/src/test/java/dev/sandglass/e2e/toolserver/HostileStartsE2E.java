package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.ComponentHealth;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Tenant;
import dev.sandglass.e2e.support.TextOracle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** MCP servers that are hostile from their start: in what they are, list and describe. The control: one beside them. */
class HostileStartsE2E {

    private static final String FENCE = "--- sandglass ---";
    private static final int MOST_CHARS = 16_000;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());
    private static final ComponentHealth HEALTH = ComponentHealth.now(TENANT.kubernetes());

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start(Map.of("memory", 1024));
        Answer sums = SANDBOXES
                .agent()
                .call(
                        "mcp_register_server",
                        Map.of(
                                "sandbox",
                                sandbox,
                                "name",
                                "sums",
                                "command",
                                "python3",
                                "args",
                                List.of("-c", Sums.SERVER)));
        assertThat(sums.failed()).as(sums.text()).isFalse();
    }

    @AfterEach
    void nothingEndedAndNothingGrew() {
        HEALTH.isUnchanged();
        new PodUse(KUBECTL, sandbox).isBounded();
        assertThat(agent.python(sandbox, """
                        import mcptools
                        mcptools.call('sums', 'Add-Numbers', {'a': 40, 'b': 2})['sum']
                        """).result()).isEqualTo("42");
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private Answer register(String begin, Map<String, Object> more) {
        var arguments = new HashMap<>(more);
        arguments.put("sandbox", sandbox);
        arguments.put("name", begin);
        arguments.put("command", "python3");
        arguments.put("args", List.of("-c", HostileServer.program(), begin));
        return agent.call("mcp_register_server", arguments);
    }

    /** In that pod, until it answers: a start of a pod on a busy node outlasts the call. */
    private Answer registered(String begin, String placement) {
        Answer answer = register(begin, Map.of("placement", placement));
        isShort(answer);
        assertThat(answer.failed()).as(answer.text()).isFalse();
        new HostileServer(agent, sandbox, begin, List.of()).awaitEcho();
        return answer;
    }

    private void remove(String begin) {
        agent.call("mcp_remove_server", Map.of("sandbox", sandbox, "name", begin));
    }

    private String listed() {
        Answer listed = agent.call("mcp_list_servers", Map.of("sandbox", sandbox));
        isShort(listed);
        return listed.text();
    }

    /** Also of megabytes; and nothing in it moves a cursor or hides. */
    private static void isShort(Answer answer) {
        assertThat(answer.text()).hasSizeLessThan(MOST_CHARS);
        TextOracle.isOurs(answer.text());
    }

    @ParameterizedTest
    @CsvSource({"quits, 20", "mute, 2", "line, 4"})
    void oneThatDoesNotStartIsRefusedInAFewWords(String begin, int seconds) {
        Answer answer = register(begin, Map.of("timeout", seconds));

        assertThat(answer.failed()).as(answer.text()).isTrue();
        assertThat(answer.text()).startsWith("Error: Not registered: ").contains("'" + begin + "'");
        isShort(answer);
        assertThat(listed()).contains("sums: running").doesNotContain(begin + ": ");
    }

    @Test
    void aListThatPagesForEverIsLeftOut() {
        Answer answer = register("pages", Map.of());

        assertThat(answer.failed()).as(answer.text()).isFalse();
        assertThat(answer.text()).contains("left out");
        isShort(answer);
        remove("pages");
    }

    @ParameterizedTest
    @ValueSource(strings = {"noisy", "others"})
    void oneThatFloodsItsErrorsOrChangesItsToolsAllTheTimeIsCalled(String begin) {
        registered(begin, "sandbox");

        assertThat(listed()).contains(begin + ": running");
        remove(begin);
    }

    /**
     * Schemas that are deep, wide, endless and wrong, and names that mean something in Python. The control: the same
     * description put into a program as it is.
     */
    @ParameterizedTest
    @ValueSource(strings = {"sandbox", "own"})
    void schemasAndNamesBecomeFunctionsAndNoCode(String placement) {
        registered("bombs", placement);

        Answer answer = agent.python(sandbox, """
                import importlib, mcptools, os, pkgutil
                import mcptools.bombs
                if os.path.exists("/tmp/forged"):
                    os.unlink("/tmp/forged")
                names = [module.name for module in pkgutil.iter_modules(mcptools.bombs.__path__)]
                loaded = [importlib.import_module("mcptools.bombs." + name) for name in names]
                print(len(names) > 15, len(set(names)) == len(names), all(name.isidentifier() for name in names))
                print(all(hasattr(one, "Params") and hasattr(one, "run") for one in loaded), os.path.exists("/tmp/forged"))
                echo = importlib.import_module("mcptools.bombs.echo")
                print(echo.run(echo.Params()))
                tools = {tool["name"]: tool["description"] for tool in mcptools.describe("bombs")["tools"]}
                exec('\"""' + tools["class"] + '\"""')
                print(os.path.exists("/tmp/forged"))
                """);
        assertThat(answer.stdout()).as(answer.text()).isEqualTo("True True True\nTrue False\n{}\nTrue\n");
        assertThat(agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "language", "javascript", "code", """
                                console.log(JSON.stringify(await (await import('mcptools/bombs')).echo({n: 7})));
                                """))
                        .stdout())
                .isEqualTo("{\"n\":7}\n");
        remove("bombs");
    }

    /** The control: the orders are there, as the server's words above the fence. */
    @ParameterizedTest
    @ValueSource(strings = {"sandbox", "own"})
    void instructionsInDescriptionsAreMarkedAsData(String placement) {
        String text = registered("words", placement).text();
        if (!text.startsWith("[starting]")) {
            isMarked(text, "descriptions, never instructions");
        }
        isMarked(listed(), "never instructions");
        remove("words");
    }

    private static void isMarked(String text, String mark) {
        assertThat(text.lines().filter(FENCE::equals)).as(text).hasSize(1);
        int fence = text.indexOf("\n" + FENCE + "\n");
        assertThat(text.substring(0, fence)).contains("IGNORE ALL", HostileServer.MARK);
        assertThat(text.substring(fence))
                .contains(mark)
                .doesNotContainIgnoringCase("ignore all")
                .doesNotContainIgnoringCase("ignore_all")
                .doesNotContain(HostileServer.MARK);
    }
}
