package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an administrator sees of a shared MCP server, and what comes of a change of its rules. */
class ServerStatusE2E {

    private static final String GREET = """
            import mcptools
            try:
                print(mcptools.call("status_sums", "greet", {"name": "Ann"}))
            except mcptools.NotAllowed as refusal:
                print("approval" in str(refusal), "spec.tools.ask" in str(refusal))
            print(sorted(tool["name"] for tool in mcptools.describe("status_sums")["tools"]))
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());
    private static final SharedServer SUMS = new SharedServer(KUBECTL, "status-sums");

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
    }

    @AfterEach
    void delete() {
        SUMS.delete();
        KUBECTL.run("wait", "--for=delete", "sandboxes.sandglass.dev/" + SUMS.child(), "--timeout=180s");
    }

    private static void apply(Map<String, Object> tools) {
        SUMS.apply(
                "GREETING", "Hello", tools.isEmpty() ? Map.of("cpus", "100m") : Map.of("cpus", "100m", "tools", tools));
    }

    private String python(String code) {
        return agent.python(sandbox, code).stdout();
    }

    /** Right after it was applied, a gateway may not know it yet. */
    private void awaitAnswer(String expected) {
        await("the answer").atMost(Duration.ofMinutes(5)).untilAsserted(() -> assertThat(python(GREET))
                .isEqualTo(expected));
    }

    @Test
    void theStatusSaysWhatTheServerIsUntilItsSpecChanges() {
        apply(Map.of("deny", List.of("fail")));
        SUMS.await("Verified=Unknown");
        assertThat(SUMS.field(".status.serverInfo")).isEmpty();

        awaitAnswer("Hello, Ann\n['Add-Numbers', 'greet']\n");

        SUMS.await("Verified=True");
        assertThat(SUMS.field(".status.serverInfo.name")).isEqualTo("Sums");
        assertThat(SUMS.field(".status.serverInfo.version")).isEqualTo("1.5");
        assertThat(SUMS.field(".status.serverInfo.protocolVersion")).isNotEmpty();
        await("the list of tools")
                .atMost(Duration.ofMinutes(2))
                .untilAsserted(() -> assertThat(SUMS.field(".status.toolCount")).isEqualTo("3"));
        String hash = SUMS.field(".status.toolsHash");
        assertThat(hash).matches("sha256:[0-9a-f]{64}");
        assertThat(SUMS.shown())
                .containsPattern("READY +REASON +TOOLS +COMMAND")
                .containsPattern("True +[A-Za-z]+ +3 +python3");

        apply(Map.of());
        SUMS.await("Verified=Unknown");
        assertThat(SUMS.field(".status.toolCount")).isEmpty();
        awaitAnswer("Hello, Ann\n['Add-Numbers', 'fail', 'greet']\n");
        await("the same tools again")
                .atMost(Duration.ofMinutes(2))
                .untilAsserted(() -> assertThat(SUMS.field(".status.toolsHash")).isEqualTo(hash));
    }

    @Test
    void theStatusSaysThatAServerDoesNotStart() {
        SUMS.applyProgram("raise SystemExit('a key is missing')");

        await("the failed start").atMost(Duration.ofMinutes(5)).until(() -> {
            agent.python(sandbox, "import mcptools; mcptools.call('status_sums', 'greet', {})");
            return SUMS.field(".status.conditions[?(@.type==\"Verified\")].reason")
                    .equals("EndpointUnavailable");
        });
        SUMS.await("Verified=False");
        assertThat(SUMS.field(".status.conditions[*].message")).doesNotContain("a key is missing");
        assertThat(SUMS.field(".status.toolCount")).isEmpty();
    }

    /** The control: the same call before the rule. */
    @Test
    void aToolThatAPersonIsToApproveIsNeitherListedNorCalled() {
        apply(Map.of());
        awaitAnswer("Hello, Ann\n['Add-Numbers', 'fail', 'greet']\n");

        apply(Map.of("ask", List.of("gre*")));

        awaitAnswer("True True\n['Add-Numbers', 'fail']\n");
    }
}
