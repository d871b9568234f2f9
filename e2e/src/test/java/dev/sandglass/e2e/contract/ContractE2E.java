package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.FreshSandboxes;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The words and rules that callers of the systems before us rely on. */
class ContractE2E {

    private static final String SIXTY_FOUR = "a".repeat(64);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Agent agent = SANDBOXES.agent();

    @Test
    void theToolsOfThisReleaseAreListedWithTheirSchemas() {
        assertThat(agent.tools())
                .extracting(Tool::name)
                .contains(
                        "sandbox_start",
                        "sandbox_stop",
                        "sandbox_run_code",
                        "sandbox_run_command",
                        "sandbox_install_packages",
                        "sandbox_get_execution",
                        "sandbox_interrupt",
                        "sandbox_reset",
                        "sandbox_close_session",
                        "sandbox_read_file",
                        "sandbox_write_file",
                        "sandbox_list_files",
                        "sandbox_manage_files",
                        "sandbox_list",
                        "sandbox_get_metrics",
                        "mcp_register_server",
                        "mcp_list_servers",
                        "mcp_remove_server");
        assertThat(agent.tools())
                .allSatisfy(tool -> assertThat(tool.inputSchema()).isNotNull());
    }

    @Test
    void startAndStopAnswerInTheWordsPeopleKnow() {
        String sandbox = SANDBOXES.name();

        assertThat(SANDBOXES.bringUp(sandbox).text()).isEqualTo("Sandbox " + sandbox + " started successfully");
        assertThat(agent.start(sandbox).text()).isEqualTo("Sandbox " + sandbox + " started successfully");
        assertThat(agent.call("sandbox_stop", Map.of("sandbox", sandbox)).text())
                .isEqualTo("Sandbox " + sandbox + " stopped successfully");
    }

    @Test
    void aNameWithCapitalsAndUnderscoresIsKeptAsGiven() {
        String name = SANDBOXES.named("E2E_Mixed_" + SANDBOXES.name());
        SANDBOXES.bringUp(name);

        assertThat(agent.python(name, "1 + 1").result()).isEqualTo("2");
        assertThat(agent.call("sandbox_get_metrics", Map.of("sandbox", name)).text())
                .contains(name);
    }

    @ParameterizedTest
    @CsvSource({
        "'', Sandbox name cannot be empty",
        "TOO_LONG, Sandbox name cannot exceed 63 characters",
        "a b, 'Sandbox name can only contain alphanumeric characters, hyphens, or underscores'",
        "../etc, 'Sandbox name can only contain alphanumeric characters, hyphens, or underscores'",
        "-a, Sandbox name must start with an alphanumeric character",
    })
    void aBadNameIsRefusedWithTheRule(String name, String words) {
        String given = name.equals("TOO_LONG") ? SIXTY_FOUR : name;

        assertThat(agent.refusal("sandbox_start", Map.of("sandbox", given))).contains(words);
    }

    @Test
    void aWildcardIsNoPlaceToCreateIn() {
        assertThat(agent.refusal("sandbox_start", Map.of("sandbox", "any", "namespace", "*")))
                .contains("Wildcard namespace (*) is not valid for sandbox creation");
        assertThat(agent.refusal("sandbox_stop", Map.of("sandbox", "any", "namespace", "*")))
                .contains("Wildcard namespace (*) is for sandbox_list and sandbox_get_metrics alone");
    }

    @Test
    void whatIsNotThereCannotBeStopped() {
        assertThat(agent.refusal("sandbox_stop", Map.of("sandbox", SANDBOXES.name())))
                .endsWith("There is nothing to stop; sandbox_list shows what there is.");
    }

    @Test
    void missingParametersAreNamed() {
        assertThat(agent.refusal("sandbox_start", Map.of()))
                .contains("Missing required 'sandbox' parameter for portal request");
        assertThat(agent.refusal("sandbox_run_code", Map.of("sandbox", "any"))).contains("'code'");
        assertThat(agent.refusal("sandbox_get_execution", Map.of())).contains("'execution_id'");
    }

    @Test
    void anUnknownToolOrLanguageIsNamed() {
        assertThat(agent.refusal("sandbox_fly", Map.of())).contains("Tool 'sandbox_fly' not found");
        assertThat(agent.refusal("sandbox_run_code", Map.of("sandbox", "any", "code", "1", "language", "cobol")))
                .contains("Unsupported language: cobol");
    }

    @Test
    void unknownAndMalformedArgumentsAreRefusedWithTheFieldAndTheRule() {
        Map<String, Object> code = Map.of("sandbox", "any", "code", "1");

        assertThat(agent.refusal("sandbox_run_code", with(code, "timeuot", 5))).contains("timeuot");
        assertThat(agent.refusal("sandbox_run_code", with(code, "timeout", "soon")))
                .contains("timeout");
        assertThat(agent.refusal("sandbox_run_code", with(code, "timeout", 3601)))
                .contains("timeout", "3600");
        assertThat(agent.refusal("sandbox_run_code", with(code, "timeout", -1))).contains("timeout");
        assertThat(agent.refusal("sandbox_run_code", Map.of("sandbox", "any", "code", 5)))
                .contains("code");
        assertThat(agent.refusal("sandbox_start", Map.of("sandbox", "any", "config", Map.of("memory", "lots"))))
                .contains("memory");
        assertThat(agent.refusal("sandbox_get_execution", Map.of("execution_id", "../../etc")))
                .contains("execution_id");
    }

    @Test
    void whatIsNoHostIsRefusedWithItsPlace() {
        Map<String, Object> domains =
                Map.of("sandbox", "any", "config", Map.of("allowed_domains", List.of("example.com", "*.com")));

        assertThat(agent.refusal("sandbox_start", domains)).contains("'config.allowed_domains[1]'", "'*.com'");
    }

    @Test
    void aSettingOfAnotherSystemIsRefusedWithWhatToDoInstead() {
        Map<String, Object> scripts = Map.of("sandbox", "any", "config", Map.of("scripts", Map.of()));

        assertThat(agent.refusal("sandbox_start", scripts))
                .contains("'config.scripts' is no setting of Sandglass", "sandbox_write_file");
    }

    @Test
    void unknownSandboxesAndNamespacesAreToldInTheSameWords() {
        String unknown =
                agent.refusal("sandbox_run_code", Map.of("sandbox", "e2e-nobody", "code", "1", "start", "never"));
        String elsewhere = agent.refusal(
                "sandbox_run_code", Map.of("sandbox", "e2e-nobody", "code", "1", "namespace", "kube-system"));

        assertThat(unknown).contains("e2e-nobody", "sandbox_start");
        assertThat(elsewhere)
                .contains("kube-system")
                .doesNotContain("forbidden")
                .doesNotContain("denied");
    }

    @Test
    void anImageThatIsNotAllowedFailsTheStartAtOnceWithTheCause() {
        String sandbox = SANDBOXES.name();

        String words = agent.refusal(
                "sandbox_start",
                Map.of("sandbox", sandbox, "config", Map.of("image", "registry.example.com/evil:latest")));

        assertThat(words).startsWith("Error: Sandbox start failed:").contains("registry.example.com/evil:latest");
    }

    @Test
    void theImageAliasesOfOlderClientsStartTheDefaultImage() {
        String sandbox = SANDBOXES.start(Map.of("image", "microsandbox/python", "memory", 384, "cpus", 1));

        assertThat(agent.python(sandbox, "2 * 3").result()).isEqualTo("6");
    }

    private static Map<String, Object> with(Map<String, Object> arguments, String field, Object value) {
        var more = new HashMap<>(arguments);
        more.put(field, value);
        return more;
    }
}
