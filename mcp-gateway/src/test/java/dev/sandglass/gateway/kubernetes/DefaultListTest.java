package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a start writes and tells of the network where the installation has a list for those who say nothing. */
class DefaultListTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "box", "box");
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));
    private static final SandboxConfig CLOSED = SandboxConfig.UNCHANGED.withAllowedDomains(List.of());

    @RegisterExtension
    final MockApi server = new MockApi();

    private final KubernetesClient client = server.client();
    private KubernetesSandboxes sandboxes;
    private FakeOperator operator;

    @BeforeEach
    void start() {
        FakeOperator.loadCrd(client);
        operator = new FakeOperator(client, REF);
        operator.answersWithReady();
        sandboxes = new KubernetesSandboxes(
                client,
                List.of(REF.namespace()),
                SETTINGS,
                new DefaultDomains(List.of("example.com")),
                Clock.systemUTC());
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
    }

    @AfterEach
    void stop() {
        sandboxes.close();
    }

    private Reach reached(SandboxConfig config) {
        return Objects.requireNonNull(
                        sandboxes.start(REF, config, "alice", () -> {}).block(SOON))
                .reach();
    }

    @Test
    void aStartThatSaysNothingLeavesTheFieldOutAndTellsTheInstallationsList() {
        assertThat(reached(SandboxConfig.UNCHANGED))
                .isEqualTo(new Reach(List.of("example.com"), true, Optional.empty()));
        assertThat(operator.resource().wanted().allowedDomains()).isNull();
    }

    @Test
    void aStartThatWantsNoNetworkWritesThatDown() {
        assertThat(reached(CLOSED)).isEqualTo(Reach.NOTHING);
        assertThat(operator.resource().wanted().allowedDomains()).isEmpty();
        assertThat(reached(SandboxConfig.UNCHANGED)).as("as it was before").isEqualTo(Reach.NOTHING);
    }
}
