package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.Attack.Finding;
import dev.sandglass.e2e.support.ControlPod;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Surroundings;
import dev.sandglass.e2e.support.Surroundings.Target;
import dev.sandglass.e2e.support.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Code in a sandbox attacks everything around it and reaches nothing; the same code in a pod without our walls reaches
 * all of it. Needs the project's own node: the hosts that this machine lacks are stood in for there.
 */
class IsolationE2E {

    private static final int PORT_OPENED_BY_CODE = 8888;
    private static final Attack NETWORK = Attack.named("network.py");

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static @Nullable ControlPod control;
    private static String attacker = "";
    private static String victim = "";

    @BeforeAll
    static void putEverythingInPlace() {
        assumeTrue(INSTALLATION.ownNode().isPresent(), "attacks run on the project's own cluster only");
        standIns("up", Surroundings.addressOfNode(TENANT.kubernetes()));
        attacker = SANDBOXES.start();
        victim = SANDBOXES.start();
        control = ControlPod.start(
                TENANT.kubernetes(), TENANT.imageOf(victim), SandboxLabels.LINK_PORT, 8081, PORT_OPENED_BY_CODE);
    }

    @AfterAll
    static void removeEverything() {
        if (INSTALLATION.ownNode().isPresent()) {
            standIns("down");
        }
        if (control != null) {
            control.close();
        }
        TENANT.close();
    }

    @TestFactory
    Stream<DynamicTest> aSandboxReachesNothingThatAPodWithoutWallsReaches() {
        List<Target> targets =
                new Surroundings(TENANT.kubernetes(), control()).all(TENANT.sandbox(victim), portsOfVictim());
        Map<String, Finding> sandbox = NETWORK.run(targets, code -> printed(attacker, code));
        Map<String, Finding> unguarded =
                NETWORK.run(targets.stream().map(Target::seenFromControl).toList(), control()::python);

        return targets.stream()
                .map(target -> DynamicTest.dynamicTest(target.name(), () -> {
                    assertThat(unguarded.get(target.name())).isNotNull();
                    assertThat(Objects.requireNonNull(unguarded.get(target.name()))
                                    .reached())
                            .as("control: %s", unguarded.get(target.name()))
                            .isTrue();
                    assertThat(Objects.requireNonNull(sandbox.get(target.name()))
                                    .reached())
                            .as("sandbox: %s", sandbox.get(target.name()))
                            .isFalse();
                }));
    }

    @Test
    void aPodWithoutWallsReachesNoSandboxEither() {
        String address = String.valueOf(TENANT.sandbox(victim).observed().address());
        List<Target> ports = portsOfVictim().stream()
                .map(port -> new Target("port " + port, "tcp", address, port, address))
                .toList();

        Map<String, Finding> findings = NETWORK.run(ports, control()::python);

        assertThat(findings.values()).isNotEmpty().noneMatch(Finding::reached);
        assertThat(printed(
                        victim,
                        "import socket; print(bool(socket.create_connection(('127.0.0.1', %d), 3)))"
                                .formatted(PORT_OPENED_BY_CODE)))
                .as("control: the port answers inside")
                .isEqualTo("True\n");
    }

    /** Every port on which the victim listens, the one that its code opened among them. */
    private static List<Integer> portsOfVictim() {
        SANDBOXES
                .agent()
                .call(
                        "sandbox_run_command",
                        Map.of(
                                "sandbox",
                                victim,
                                "command",
                                "python3",
                                "args",
                                List.of("-m", "http.server", "" + PORT_OPENED_BY_CODE),
                                "background",
                                true,
                                "timeout",
                                600));
        await("the victim to listen").atMost(Duration.ofSeconds(60)).until(() -> listening()
                .contains(PORT_OPENED_BY_CODE));
        assertThat(listening()).contains(SandboxLabels.LINK_PORT);
        return listening();
    }

    private static List<Integer> listening() {
        return NETWORK.call("listening_ports()", code -> printed(victim, code), new TypeReference<>() {});
    }

    private static String printed(String sandbox, String code) {
        Answer answer = SANDBOXES.agent().python(sandbox, code);
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout();
    }

    private static ControlPod control() {
        return Objects.requireNonNull(control);
    }

    private static void standIns(String... arguments) {
        String script = INSTALLATION.root().resolve("e2e/attack/stand-ins").toString();
        INSTALLATION
                .ownNode()
                .orElseThrow()
                .run(Stream.concat(Stream.of(script), Stream.of(arguments)).toArray(String[]::new));
    }
}
