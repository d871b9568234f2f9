package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.ComponentHealth;
import dev.sandglass.e2e.support.ComponentLogs;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import dev.sandglass.e2e.support.Tenant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An MCP server in the sandbox's pod answers calls with the worst it can. The control: a well-behaved one beside it. */
class HostileCallsE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());
    private static final ComponentHealth HEALTH = ComponentHealth.now(TENANT.kubernetes());

    private static HostileServer server;

    @BeforeAll
    static void register() {
        // A session may have 256 MiB before it is given up.
        String sandbox = SANDBOXES.start(Map.of("memory", 1024));
        register(sandbox, "hostile", HostileServer.program());
        register(sandbox, "sums", Sums.SERVER);
        server = new HostileServer(SANDBOXES.agent(), sandbox, "hostile", List.of("sums"));
    }

    private static void register(String sandbox, String name, String program) {
        Agent agent = SANDBOXES.agent();
        Answer answer = agent.call(
                "mcp_register_server",
                Map.of("sandbox", sandbox, "name", name, "command", "python3", "args", List.of("-c", program)));
        assertThat(answer.failed()).as(answer.text()).isFalse();
    }

    @AfterEach
    void nothingEndedAndNothingGrew() {
        HEALTH.isUnchanged();
        new PodUse(KUBECTL, server.sandbox()).isBounded();
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    @ParameterizedTest
    @EnumSource
    void codeGetsAnAnswerOrAnExceptionAndAllElseServesOn(HostileCall call) {
        server.attack(call);
    }

    @Test
    void noLogHasWhatItSays() {
        server.attack(HostileCall.ERROR);
        server.attack(HostileCall.DIES);

        assertThat(new PodUse(KUBECTL, server.sandbox()).log()).doesNotContain(HostileServer.MARK);
        for (String component : List.of(SandboxLabels.COMPONENT_GATEWAY, "operator")) {
            assertThat(ComponentLogs.of(TENANT.kubernetes(), component))
                    .isNotEmpty()
                    .doesNotContain(HostileServer.MARK);
        }
    }
}
