package dev.sandglass.gateway.action;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.FakeSandboxes;
import dev.sandglass.gateway.testing.FakeSupervisor;
import dev.sandglass.gateway.toolcall.SharedServerList;
import dev.sandglass.gateway.toolserver.AgentServerSettings;
import dev.sandglass.gateway.toolserver.AgentServerSettings.Permitted;
import dev.sandglass.gateway.toolserver.AgentServers;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** Whether an installation lets agents register servers in pods of their own. */
class AgentServerActionsTest {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final SandboxRef BOX = new SandboxRef("default", "sandglass-default", "box", "box");
    private static final Registration COMMAND =
            new Registration.Command("web", "x", List.of(), Map.of("A", "s3cret"), "", SOON);
    private static final Registration URL =
            new Registration.Url("web", "https://a.b", Map.of("A", "s3cret"), Registration.Transport.SSE, SOON);

    private final FakeSandboxes sandboxes = new FakeSandboxes();
    private final FakeSupervisor supervisor = new FakeSupervisor();

    @AfterEach
    void stop() {
        supervisor.close();
    }

    private Mono<?> register(Permitted permitted, Registration registration) {
        var pods = new OwnPods(
                new AgentServerSettings(permitted, List.of()),
                List.of(),
                AgentServers.NONE,
                SharedServers.NONE,
                (_, _) -> Mono.never());
        Actions actions = Actions.of(
                sandboxes, new Executions(supervisor, sandboxes::ends), new DeniedHosts(), SharedServerList.NONE, pods);
        return actions.servers()
                .registerApart(
                        BOX,
                        new AgentServers.Wanted(registration, null, "alice"),
                        SOON,
                        new Patience(SOON, OutputListener.NONE));
    }

    @ParameterizedTest
    @CsvSource({
        "NONE,false,no MCP server in a pod,'none'",
        "NONE,true,no MCP server in a pod,'none'",
        "HTTP,false,only an MCP server with 'url',(mcp.agentServers of the chart is 'http')",
    })
    void aRefusalNamesTheSetting(Permitted permitted, boolean url, String words, String setting) {
        assertThatThrownBy(() -> register(permitted, url ? URL : COMMAND).block(SOON))
                .isInstanceOfSatisfying(SandboxProblem.Refused.class, refused -> {
                    assertThat(refused.fact())
                            .contains(words, setting, "mcp.agentServers")
                            .doesNotContain("s3cret");
                    assertThat(refused.next()).isEqualTo(NextStep.Plain.PLACE_IN_SANDBOX);
                });
    }

    /** The control: what is permitted is refused only because there is no such sandbox. */
    @ParameterizedTest
    @CsvSource({"HTTP,true", "ALL,true", "ALL,false"})
    void whatIsPermittedIsNotRefused(Permitted permitted, boolean url) {
        assertThatThrownBy(() -> register(permitted, url ? URL : COMMAND).block(SOON))
                .isInstanceOf(SandboxProblem.NotFound.class);
    }
}
