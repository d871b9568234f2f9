package dev.sandglass.e2e.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.Attack;
import dev.sandglass.e2e.support.ControlPod;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Surroundings;
import dev.sandglass.e2e.support.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Ways out beside the walls, each also taken by a pod without them: the first moment of a pod, and IPv6. */
class EgressSideDoorsE2E {

    private static final Attack ATTACK = Attack.named("side_doors.py");
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final String FOLDER = "/workspace/found";

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);

    /** What one process came to; the time in seconds since 1970. */
    private record Attempts(double begun, int tried, int reached) {}

    @BeforeAll
    static void needTheNode() {
        assumeTrue(INSTALLATION.ownNode().isPresent(), "attacks run on the project's own cluster only");
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static String printed(String sandbox, String code) {
        Answer answer = SANDBOXES.agent().python(sandbox, code);
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout();
    }

    private static ControlPod control(String sandbox) {
        return ControlPod.start(TENANT.kubernetes(), TENANT.imageOf(sandbox), 1);
    }

    /** The kernel of a sandbox imports what an earlier one left, long before the pod is known to be ready. */
    @Test
    void fromItsFirstMomentOnASandboxIsCutOff() {
        String api = TENANT.kubernetes()
                .services()
                .inNamespace("default")
                .withName("kubernetes")
                .require()
                .getSpec()
                .getClusterIP();
        String sandbox = SANDBOXES.start(Map.of("workspace", "64Mi"));
        String early = "\nbegin('%s', '%s', 443)\n".formatted(FOLDER, api);
        printed(sandbox, """
                import os, pathlib, site
                os.makedirs("%s")
                packages = pathlib.Path(site.getusersitepackages())
                packages.mkdir(parents=True, exist_ok=True)
                packages.joinpath("usercustomize.py").write_text(%s)
                """.formatted(FOLDER, Attack.literal(ATTACK.source() + early)));
        SANDBOXES.agent().call("sandbox_stop", Map.of("sandbox", sandbox));

        assertThat(SANDBOXES.bringUp(sandbox).failed()).isFalse();
        double started = Instant.now().toEpochMilli() / 1000.0;
        List<Attempts> found = await().atMost(PATIENCE)
                .until(
                        () -> ATTACK.call(
                                "found_by_all('" + FOLDER + "')",
                                code -> printed(sandbox, code),
                                new TypeReference<List<Attempts>>() {}),
                        all -> !all.isEmpty());

        assertThat(found).allSatisfy(process -> {
            assertThat(process.tried()).isGreaterThan(10);
            assertThat(process.reached()).isZero();
        });
        assertThat(found).as("before the start was answered").anyMatch(process -> process.begun() < started);
        try (ControlPod control = control(sandbox)) {
            Attempts unguarded =
                    ATTACK.call("attempts('" + api + "', 443)", control::python, new TypeReference<Attempts>() {});
            assertThat(unguarded.reached()).as("control").isGreaterThan(10);
        }
    }

    /** The walls of this cluster know IPv4 alone. Its nodes speak nothing else with pods, and that is the wall. */
    @Test
    void theNodeIsNotReachedByIpv6() {
        String sandbox = SANDBOXES.start();
        int port = Surroundings.apiServers(TENANT.kubernetes())
                .getFirst()
                .getPorts()
                .getFirst()
                .getPort();
        String attempt = "node_by_ipv6(%d)".formatted(port);

        assertThat(ATTACK.call(attempt, code -> printed(sandbox, code), new TypeReference<Boolean>() {}))
                .isFalse();

        try (ControlPod control = control(sandbox)) {
            String script = INSTALLATION.root().resolve("e2e/attack/ipv6-link").toString();
            INSTALLATION.ownNode().orElseThrow().run(script, "up", control.address());
            assertThat(ATTACK.call(attempt, control::python, new TypeReference<Boolean>() {}))
                    .as("control: a link on which the node speaks IPv6")
                    .isTrue();
        }
    }
}
