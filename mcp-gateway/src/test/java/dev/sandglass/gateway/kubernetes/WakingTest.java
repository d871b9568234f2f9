package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.test.StepVerifier;

/** A sleeping sandbox is woken whatever the gateway's clock and the operator's, played by {@link FakeOperator}, say. */
class WakingTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "box", "box");
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    private KubernetesSandboxes sandboxes;
    private FakeOperator operator;

    @BeforeEach
    void start() {
        FakeOperator.loadCrd(client);
        operator = new FakeOperator(client, REF);
        sandboxes = new KubernetesSandboxes(
                client, List.of("sandglass-default"), SETTINGS, DefaultDomains.NONE, Clock.fixed(NOON, ZoneOffset.UTC));
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
        operator.answersWithReady();
        sandboxes.start(REF, SandboxConfig.UNCHANGED, "alice", () -> {}).block(SOON);
    }

    @AfterEach
    void stop() {
        sandboxes.close();
    }

    private void fallsAsleep(Instant at) {
        operator.suspended("Idle", at);
        await().atMost(SOON).untilAsserted(() -> StepVerifier.create(sandboxes.running(REF))
                .verifyError(SandboxProblem.Asleep.class));
    }

    private CompletableFuture<RunningSandbox> resume() {
        return sandboxes.resume(REF).timeout(SOON).toFuture();
    }

    private Instant renewed() {
        return Objects.requireNonNull(client.leases()
                        .inNamespace(REF.namespace())
                        .withName(SandboxLabels.leaseName(
                                operator.resource().getMetadata().getUid()))
                        .get())
                .getSpec()
                .getRenewTime()
                .toInstant();
    }

    /** Seconds by which the operator's clock is ahead. */
    @ParameterizedTest
    @ValueSource(longs = {-3600, -1, 0, 1, 30, 3600})
    void aUseIsLaterThanTheSleepThatItEnds(long ahead) throws Exception {
        Instant sleep = NOON.plusSeconds(ahead);
        fallsAsleep(sleep);
        operator.wakesOnUseAfter(sleep);

        assertThat(resume().get().incarnation()).isEqualTo(2);

        assertThat(renewed()).isEqualTo(ahead < 0 ? NOON : sleep.plusMillis(1));
    }

    /** The gateway sees no more of it than that it is still asleep. */
    @Tag("slow")
    @Test
    void oneThatFellAsleepAnewIsWokenAgain() throws Exception {
        fallsAsleep(NOON.plusSeconds(30));
        CompletableFuture<RunningSandbox> resumed = resume();
        await().atMost(SOON).ignoreExceptions().until(() -> renewed().isAfter(NOON.plusSeconds(30)));
        assertThat(resumed).isNotDone();
        Instant anew = NOON.plusSeconds(60);

        operator.wakesOnUseAfter(anew);
        operator.suspended("Idle", anew);

        assertThat(resumed.get().incarnation()).isEqualTo(2);
    }

    /** Between the look that found it asleep and the resumption, its retention was over or somebody deleted it. */
    @Test
    void oneThatIsGoneByNowIsNotMadeAnew() {
        fallsAsleep(NOON);
        client.resource(operator.resource()).delete();

        StepVerifier.create(sandboxes.resume(REF))
                .expectError(SandboxProblem.NotFound.class)
                .verify(SOON);

        assertThat(client.resources(Sandbox.class)
                        .inNamespace(REF.namespace())
                        .list()
                        .getItems())
                .isEmpty();
    }

    @Test
    void oneThatSomebodyStoppedMeanwhileStaysStopped() {
        fallsAsleep(NOON);
        Sandbox stopped = client.resource(operator.resource())
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"suspended\":true}}");

        StepVerifier.create(sandboxes.resume(REF))
                .expectErrorSatisfies(problem -> assertThat(problem)
                        .isInstanceOf(SandboxProblem.NotRunning.class)
                        .hasMessageContaining("it was stopped"))
                .verify(SOON);

        assertThat(operator.resource().getMetadata().getResourceVersion())
                .as("nothing was written")
                .isEqualTo(stopped.getMetadata().getResourceVersion());
        assertThat(client.leases().inNamespace(REF.namespace()).list().getItems())
                .isEmpty();
    }
}
