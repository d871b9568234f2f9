package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.SeatConfiguration;
import dev.sandglass.gateway.sandbox.SeatId;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.testing.NamesWhatIsMissing;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.StepVerifier;

/** The adapter against a mock of the API server, with the operator's part played by {@link FakeOperator}. */
class KubernetesSandboxesTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "box", "box");

    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofSeconds(3), Duration.ofSeconds(5));

    @RegisterExtension
    final MockApi server = new MockApi(new NamesWhatIsMissing());

    private KubernetesClient client;
    private KubernetesSandboxes sandboxes;
    private FakeOperator operator;

    @BeforeEach
    void start() {
        client = new KubernetesClientBuilder()
                .withConfig(SETTINGS.applyTo(server.client().getConfiguration()))
                .build();
        FakeOperator.loadCrd(client);
        operator = new FakeOperator(client, REF);
        sandboxes = new KubernetesSandboxes(
                client, List.of("sandglass-default"), SETTINGS, DefaultDomains.NONE, Clock.fixed(NOON, ZoneOffset.UTC));
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
    }

    @AfterEach
    void stop() {
        sandboxes.close();
        client.close();
    }

    private RunningSandbox started() {
        operator.answersWithReady();
        return started(SandboxConfig.UNCHANGED);
    }

    private RunningSandbox started(SandboxConfig config) {
        return Objects.requireNonNull(
                sandboxes.start(REF, config, "alice", () -> {}).block(SOON));
    }

    private static SandboxConfig withEnv(String name, String value) {
        return new SandboxConfig(null, null, null, null, Map.of(name, value));
    }

    @Test
    void aStartMakesTheResourceAndWaitsUntilItIsReady() {
        RunningSandbox running = started();

        assertThat(running.address()).isEqualTo("10.0.0.7");
        assertThat(running.incarnation()).isEqualTo(1);
        assertThat(running.port()).isEqualTo(5710);
        Sandbox resource = operator.resource();
        assertThat(running.uid()).isEqualTo(resource.getMetadata().getUid());
        assertThat(resource.getMetadata().getAnnotations())
                .containsEntry(SandboxLabels.GIVEN_NAME, "box")
                .containsEntry(SandboxLabels.CREATED_BY, "alice");
        StepVerifier.create(sandboxes.running(REF)).expectNext(running).verifyComplete();
        StepVerifier.create(sandboxes.findByUid("default", REF.namespace(), running.uid(), 1))
                .expectNext(Optional.of(new SandboxState.Running(running)))
                .verifyComplete();
    }

    /** The pod that takes the seat's place is made for the sandbox, and its keys are the sandbox's. */
    @Test
    void aSandboxInASeatIsConfiguredByItsNewestSpecUntilAnotherPodTakesItsPlace() {
        String id = "5ea75ea7-0000-4000-8000-000000000001";
        var seat = new SeatId(id);
        operator.answersWithSeat(id);
        RunningSandbox sandbox = started(withEnv("A", "before"));
        assertThat(sandbox.seat()).contains(seat);
        assertThat(sandboxes.configuration(sandbox.uid(), 1, seat))
                .contains(new SeatConfiguration(Map.of("A", "before"), Optional.empty()));
        RunningSandbox edited = started(withEnv("A", "after"));
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(sandboxes.configuration(edited.uid(), edited.incarnation(), seat))
                        .contains(new SeatConfiguration(Map.of("A", "after"), Optional.empty())));
        operator.replaced();
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(sandboxes.configuration(edited.uid(), edited.incarnation(), seat))
                        .isEmpty());
        assertThat(sandboxes.running(REF).block(SOON))
                .extracting(RunningSandbox::seat)
                .isEqualTo(Optional.empty());
    }

    @Tag("slow")
    @Test
    void aSecondStartWritesNothing() {
        started();
        String version = operator.resource().getMetadata().getResourceVersion();

        StepVerifier.create(sandboxes.start(REF, SandboxConfig.UNCHANGED, "bob", () -> {}))
                .expectNextCount(1)
                .verifyComplete();

        assertThat(operator.resource().getMetadata().getResourceVersion()).isEqualTo(version);
    }

    @Tag("slow")
    @Test
    void aStartSaysOnlyOfANewSandboxThatItMadeIt() {
        operator.answersWithReady();
        var created = new AtomicInteger();

        for (SandboxConfig config :
                List.of(SandboxConfig.UNCHANGED, new SandboxConfig(null, "1Gi", null, null, null))) {
            sandboxes.start(REF, config, "alice", created::incrementAndGet).block(SOON);

            assertThat(created).hasValue(1);
        }
    }

    @Tag("slow")
    @Test
    void whatIsUnknownIsNotFound() {
        StepVerifier.create(sandboxes.running(REF)).verifyError(SandboxProblem.NotFound.class);
        StepVerifier.create(sandboxes.stop(REF)).verifyError(SandboxProblem.NotFound.class);
        StepVerifier.create(sandboxes.delete(REF)).verifyError(SandboxProblem.NotFound.class);
    }

    @Tag("slow")
    @Test
    void aStoppedOneFailsAtOnceAndStartsAgainWithTheNextNumber() {
        started();

        StepVerifier.create(sandboxes.stop(REF))
                .expectSubscription()
                .expectNoEvent(Duration.ofMillis(200))
                .then(() -> operator.suspended("Requested"))
                .expectComplete()
                .verify(SOON);

        StepVerifier.create(sandboxes.running(REF)).verifyErrorSatisfies(problem -> assertThat(problem)
                .isInstanceOf(SandboxProblem.NotRunning.class)
                .hasMessageContaining("it was stopped"));
        assertThat(operator.resource().wanted().suspended()).isTrue();

        RunningSandbox again = started();
        assertThat(again.incarnation()).isEqualTo(2);
        assertThat(operator.resource().wanted().suspended()).isFalse();
    }

    @Tag("slow")
    @Test
    void theEndOfAPodIsToldWithItsCause() {
        RunningSandbox first = started();

        StepVerifier.create(sandboxes.ends(first))
                .expectSubscription()
                .expectNoEvent(Duration.ofMillis(200))
                .then(() -> operator.evicted("The node put the pod out. "))
                .expectNext(new SandboxEnd.PodGone("The node put the pod out (Evicted)"))
                .verifyComplete();
    }

    @Tag("slow")
    @Test
    void aFinalCauseFailsTheStartAtOnceWithItsTextAndLeavesNothingBehind() {
        operator.answersWith("ImageForbidden", "image x is not on the list");

        StepVerifier.create(sandboxes.start(REF, SandboxConfig.UNCHANGED, "alice", () -> {}))
                .expectErrorSatisfies(problem -> assertThat(problem)
                        .isInstanceOf(SandboxProblem.StartFailed.class)
                        .hasMessageContainingAll("ImageForbidden", "image x is not on the list"))
                .verify(SOON);

        assertThat(client.resources(Sandbox.class)
                        .inNamespace(REF.namespace())
                        .list()
                        .getItems())
                .as("what a failed start created")
                .isEmpty();
        assertThat(sandboxes.list("default", REF.namespace()))
                .as("what this replica shows of it")
                .isEmpty();
    }

    @Tag("slow")
    @Test
    void aFailedStartKeepsASandboxThatWasThereBefore() {
        started();
        operator.answersWith("ImageForbidden", "image x is not on the list");

        StepVerifier.create(sandboxes.start(REF, new SandboxConfig("x", null, null, null, null), "alice", () -> {}))
                .expectError(SandboxProblem.StartFailed.class)
                .verify(SOON);

        assertThat(operator.resource().wanted().image()).isEqualTo("x");
    }

    @Tag("slow")
    @Test
    void aPassingTroubleFailsTheStartOnlyIfItStays() {
        operator.answersWith("Unschedulable", "No node can take the pod: 0/1 nodes are available: 1 Insufficient cpu.");

        StepVerifier.create(sandboxes.start(REF, SandboxConfig.UNCHANGED, "alice", () -> {}))
                .expectErrorSatisfies(problem ->
                        assertThat(problem).hasMessageEndingWith("(Unschedulable): No node has enough free CPU for it"))
                .verify(SOON);

        operator.answersWithReady();
        StepVerifier.create(sandboxes.start(REF, new SandboxConfig(null, "1Gi", null, null, null), "alice", () -> {}))
                .expectNextCount(1)
                .expectComplete()
                .verify(SOON);
    }

    @Tag("slow")
    @Test
    void aSleepingOneIsWokenByItsLease() {
        RunningSandbox first = started();
        operator.suspended("Idle");
        await().atMost(SOON).untilAsserted(() -> StepVerifier.create(sandboxes.running(REF))
                .verifyError(SandboxProblem.Asleep.class));
        operator.wakesOnLease();

        RunningSandbox again = Objects.requireNonNull(sandboxes.resume(REF).block(SOON));

        assertThat(again.incarnation()).isEqualTo(first.incarnation() + 1);
    }

    @Tag("slow")
    @Test
    void useIsWrittenOnceAndOwnedByTheSandbox() {
        RunningSandbox running = started();

        sandboxes.active(running, Duration.ofMinutes(5));
        await().atMost(SOON).until(() -> lease(running) != null);
        String version = lease(running).getMetadata().getResourceVersion();
        sandboxes.active(running, Duration.ofMinutes(14));
        sandboxes.active(running, Duration.ofMinutes(60));

        await().atMost(SOON).until(() -> lease(running).getSpec().getLeaseDurationSeconds() == 3600);
        Lease lease = lease(running);
        assertThat(Long.parseLong(lease.getMetadata().getResourceVersion())).isGreaterThan(Long.parseLong(version));
        assertThat(lease.getSpec().getRenewTime().toInstant()).isEqualTo(NOON);
        assertThat(lease.getMetadata().getLabels()).containsEntry(SandboxLabels.SANDBOX, "box");
        assertThat(lease.getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid()).isEqualTo(running.uid()));
    }

    @Tag("slow")
    @Test
    void useOfASandboxWithAnIdleTimeOfItsOwnIsWrittenByThat() {
        operator.answersWithReady();
        var config = new SandboxConfig(null, null, null, null, null, null, null, null, "60s", null, null, null, null);
        RunningSandbox running = Objects.requireNonNull(
                sandboxes.start(REF, config, "alice", () -> {}).block(SOON));

        sandboxes.active(running, Duration.ofSeconds(10));
        await().atMost(SOON).until(() -> lease(running) != null);
        sandboxes.active(running, Duration.ofSeconds(25)); // lacks a quarter of the 60 s
        assertThat(lease(running).getSpec().getLeaseDurationSeconds()).isEqualTo(10);
        sandboxes.active(running, Duration.ofSeconds(26));

        await().atMost(SOON).until(() -> lease(running).getSpec().getLeaseDurationSeconds() == 26);
    }

    @Tag("slow")
    @Test
    void oneThatFallsAsleepWhileItIsStartedIsWoken() {
        RunningSandbox first = started();
        operator.suspendsWhoeverIsEdited("MaxLifetime");
        operator.wakesOnLease();
        var config = new SandboxConfig(null, null, null, null, null, null, null, null, null, "10s", null, null, null);

        RunningSandbox again = Objects.requireNonNull(
                sandboxes.start(REF, config, "alice", () -> {}).block(SOON));

        assertThat(again.incarnation()).isEqualTo(first.incarnation() + 1);
    }

    @Tag("slow")
    @Test
    void withoutApiServerNothingIsGoneThatThisReplicaMayNotHaveSeen() {
        RunningSandbox running = started();

        server.goAway();

        StepVerifier.create(sandboxes.findByUid("default", REF.namespace(), running.uid(), 1))
                .expectNext(Optional.of(new SandboxState.Running(running)))
                .verifyComplete();
        StepVerifier.create(sandboxes.findByUid("default", REF.namespace(), running.uid(), 2))
                .expectError(SandboxProblem.Unavailable.class)
                .verify(SOON);
    }

    private Lease lease(RunningSandbox sandbox) {
        return client.leases()
                .inNamespace(REF.namespace())
                .withName(SandboxLabels.leaseName(sandbox.uid()))
                .get();
    }

    @Tag("slow")
    @Test
    void withoutApiServerRunningSandboxesAreKnownAndOrdersFailWithTheCause() {
        RunningSandbox running = started();

        server.goAway();

        StepVerifier.create(sandboxes.running(REF)).expectNext(running).verifyComplete();
        StepVerifier.create(sandboxes.start(REF, SandboxConfig.UNCHANGED, "bob", () -> {}))
                .expectNext(running)
                .verifyComplete();
        StepVerifier.create(sandboxes.stop(REF))
                .expectErrorSatisfies(problem -> assertThat(problem)
                        .isInstanceOf(SandboxProblem.Unavailable.class)
                        .hasMessageContaining("it cannot be reached"))
                .verify(SOON);
    }
}
