package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.SandboxLabels;
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

/** The same for a server that sandboxes share, whose answers pass through a gateway. The control: one like it that behaves. */
class HostileSharedServerE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final Kubectl KUBECTL = Kubectl.of(Installation.current());
    private static final ComponentHealth HEALTH = ComponentHealth.now(TENANT.kubernetes());
    private static final SharedServer HOSTILE = new SharedServer(KUBECTL, "hostile-shared");
    private static final SharedServer CALM = new SharedServer(KUBECTL, "hostile-calm");
    private static final SharedServer MUTE = new SharedServer(KUBECTL, "hostile-mute");

    private static HostileServer server;

    @BeforeAll
    static void start() {
        String sandbox = SANDBOXES.start();
        // A session may have 256 MiB before it is given up.
        HOSTILE.applyProgram(HostileServer.program(), "well", Map.of("cpus", "500m", "memory", "512Mi"));
        CALM.apply("GREETING", "Hello", Map.of("cpus", "100m"));
        server = new HostileServer(SANDBOXES.agent(), sandbox, "hostile_shared", List.of("hostile_calm"));
        server.awaitEcho();
        server.awaitOthers();
    }

    @AfterEach
    void nothingEndedAndNothingGrew() {
        HEALTH.isUnchanged();
        new PodUse(KUBECTL, server.sandbox()).isBounded();
        new PodUse(KUBECTL, HOSTILE.child()).isBounded();
    }

    @AfterAll
    static void delete() {
        List.of(HOSTILE, CALM, MUTE).forEach(SharedServer::delete);
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
        assertThat(new PodUse(KUBECTL, HOSTILE.child()).log()).doesNotContain(HostileServer.MARK);
        assertThat(ComponentLogs.of(TENANT.kubernetes(), SandboxLabels.COMPONENT_GATEWAY))
                .contains("hostile_shared")
                .doesNotContain(HostileServer.MARK);
        assertThat(ComponentLogs.of(TENANT.kubernetes(), "operator"))
                .isNotEmpty()
                .doesNotContain(HostileServer.MARK);
        assertThat(HOSTILE.shownWide()).doesNotContain(HostileServer.MARK);
    }

    /** The control: the calls of another server behind it. */
    @Test
    void aCallOfOneThatNeverSaysHelloEndsInTime() {
        MUTE.applyProgram(HostileServer.program(), "mute", Map.of("cpus", "100m"));
        Answer answer = server.agent().python(server.sandbox(), """
                import mcptools, time
                begin = time.monotonic()
                while True:
                    try:
                        print(mcptools.call("hostile_mute", "echo", {}, timeout_s=8))
                    except mcptools.NoSuchServer:
                        if time.monotonic() - begin < 20:
                            time.sleep(0.5)  # no gateway knows it yet
                            continue
                        raise
                    except (mcptools.ToolTimeout, mcptools.ServerNotRunning) as error:
                        print("given up", len(str(error)) < 8192)
                    break
                print(mcptools.call("hostile_calm", "Add-Numbers", {"a": 40, "b": 2}, timeout_s=20)["sum"])
                """);

        assertThat(answer.stdout()).as(answer.text()).isEqualTo("given up True\n42\n");
    }
}
