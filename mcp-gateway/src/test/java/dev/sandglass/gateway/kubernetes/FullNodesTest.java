package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.name.SandboxName;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.NextStep.FreeCapacity;
import dev.sandglass.gateway.sandbox.NextStep.FreeCapacity.Idle;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.testing.NamesWhatIsMissing;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.mockwebserver.http.MockResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** The failure and the next step of a start for which no node has enough free capacity. */
class FullNodesTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");
    private static final Clock AT_TWO = Clock.fixed(NOON.plus(Duration.ofHours(2)), ZoneOffset.UTC);
    private static final String NAMESPACE = "sandglass-default";
    private static final String OTHER_NAMESPACE = "sandglass-other";
    private static final String MEMORY_IS_SCARCE =
            "No node can take the pod: 0/1 nodes are available: 1 Insufficient memory."
                    + " preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(100), Duration.ofSeconds(5));

    private final LeaseFailures api = new LeaseFailures();

    @RegisterExtension
    final MockApi server = new MockApi(api);

    private KubernetesClient client;
    private KubernetesSandboxes sandboxes;

    @BeforeEach
    void start() {
        client = server.client();
        FakeOperator.loadCrd(client);
        sandboxes = new KubernetesSandboxes(
                client, List.of(NAMESPACE, OTHER_NAMESPACE), SETTINGS, DefaultDomains.NONE, AT_TWO);
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
    }

    @AfterEach
    void stop() {
        sandboxes.close();
    }

    @Test
    void aStartOnFullNodesNamesTheThreeSandboxesThatAreIdleLongest() {
        runs("a", Duration.ofMinutes(20));
        runs("b", Duration.ofMinutes(10));
        runs("busy", Duration.ofHours(2));
        runs("c", Duration.ofMinutes(30));
        runs("d", Duration.ofMinutes(40));

        SandboxProblem.StartFailed problem = failure(MEMORY_IS_SCARCE);

        assertThat(problem.fact())
                .isEqualTo("Sandbox 'box' cannot start (Unschedulable): No node has enough free memory for it");
        // A lease may lack a quarter of the idle time, and clocks may differ by a minute.
        assertThat(problem.next()).isEqualTo(free(5, idle("b", 99), idle("a", 89), idle("c", 79)));
    }

    @Test
    void sandboxesThatAreIdleForTheSameTimeAreNamedInTheOrderOfTheirNames() {
        runs("d", Duration.ofMinutes(9));
        runs("My_Box", Duration.ofMinutes(9));
        runs("c", Duration.ofMinutes(9));
        runs("b", Duration.ofMinutes(9));

        assertThat(failure(MEMORY_IS_SCARCE).next())
                .isEqualTo(free(4, idle("My_Box", 100), idle("b", 100), idle("c", 100)));
    }

    @Test
    void sandboxesOfOtherTenantsAndOfSharedServersAreNeitherCountedNorNamed() {
        runs(OTHER_NAMESPACE, "theirs", Map.of(), Duration.ofMinutes(1));
        runs(NAMESPACE, "web-mcp", Map.of(SandboxLabels.TOOL_SERVER, "web"), Duration.ofMinutes(1));
        runs("ours", Duration.ofMinutes(9));

        assertThat(failure(MEMORY_IS_SCARCE).next()).isEqualTo(free(1, idle("ours", 100)));
    }

    @Test
    void sandboxesWithoutALeaseAreCountedAndNotNamed() {
        runs("a", Duration.ZERO);

        assertThat(failure(MEMORY_IS_SCARCE).next()).isEqualTo(free(1));
    }

    @Tag("slow")
    @Test
    void sandboxesAreCountedAndNotNamedWhileTheApiServerDoesNotReturnLeases() {
        runs("a", Duration.ofMinutes(1));
        api.fail = true;

        assertThat(failure(MEMORY_IS_SCARCE).next()).isEqualTo(free(1));
    }

    @Test
    void aTenantWithoutOtherSandboxesGetsACountOfZero() {
        assertThat(failure("0/1 nodes are available: 1 Too many pods.").next()).isEqualTo(free(0));
    }

    @Test
    void aSandboxLargerThanEveryNodeIsToRequestLess() {
        assertThat(failure("0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1"
                                + " Preemption is not helpful for scheduling.")
                        .next())
                .isEqualTo(NextStep.Plain.ASK_FOR_LESS);
    }

    @Test
    void aTaintIsReportedInTheWordsOfTheSchedulerWithoutAStep() {
        SandboxProblem.StartFailed problem =
                failure("No node can take the pod: 0/1 nodes are available: 1 node(s) had untolerated taint {a: }.");

        assertThat(problem.fact())
                .endsWith("No node can take the pod: 0/1 nodes are available: 1 node(s) had untolerated taint {a: }");
        assertThat(problem.next()).isNull();
    }

    private static FreeCapacity free(int running, Idle... idle) {
        return new FreeCapacity("default", running, List.of(idle));
    }

    private static Idle idle(String name, long minutes) {
        return new Idle(name, Duration.ofMinutes(minutes));
    }

    private void runs(String name, Duration busyFor) {
        runs(NAMESPACE, name, Map.of(), busyFor);
        await().atMost(SOON).until(() -> sandboxes.running().stream()
                .anyMatch(sandbox -> sandbox.ref().givenName().equals(name)));
    }

    /** Makes a running sandbox that was in use from noon on for that long, or one without a lease. */
    private void runs(String namespace, String name, Map<String, String> labels, Duration busyFor) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withNamespace(namespace)
                .withName(new SandboxName(name).resourceName())
                .withLabels(labels)
                .addToAnnotations(SandboxLabels.GIVEN_NAME, name)
                .build());
        Sandbox made = client.resource(resource).create();
        if (busyFor.isPositive()) {
            client.resource(new LeaseBuilder()
                            .withNewMetadata()
                            .withNamespace(namespace)
                            .withName(SandboxLabels.leaseName(made.getMetadata().getUid()))
                            .endMetadata()
                            .withNewSpec()
                            .withRenewTime(NOON.atZone(ZoneOffset.UTC))
                            .withLeaseDurationSeconds((int) busyFor.toSeconds())
                            .endSpec()
                            .build())
                    .create();
        }
        new FakeOperator(
                        client,
                        new SandboxRef("default", namespace, made.getMetadata().getName(), name))
                .replaced();
    }

    private SandboxProblem.StartFailed failure(String message) {
        var box = new SandboxRef("default", NAMESPACE, "box", "box");
        new FakeOperator(client, box).answersWith("Unschedulable", message);
        var problem = new AtomicReference<SandboxProblem.StartFailed>();
        sandboxes
                .start(box, SandboxConfig.UNCHANGED, "alice", () -> {})
                .then()
                .onErrorResume(SandboxProblem.StartFailed.class, failure -> {
                    problem.set(failure);
                    return Mono.empty();
                })
                .block(SOON);
        return Objects.requireNonNull(problem.get());
    }

    /** Answers reads of leases with an error if asked to. */
    private static final class LeaseFailures extends NamesWhatIsMissing {

        private volatile boolean fail;

        @Override
        public MockResponse handleGet(String path) {
            return fail && path.contains("/leases/") ? new MockResponse().setResponseCode(500) : super.handleGet(path);
        }
    }
}
