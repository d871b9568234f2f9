package dev.sandglass.operator.cluster;

import static dev.sandglass.api.ConditionType.NETWORK_READY;
import static dev.sandglass.api.ConditionType.READY;
import static dev.sandglass.api.ConditionType.SUSPENDED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ChildNames;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The operator in this process against a real API server and a real node, with its own rights only. */
class OperatorIT {

    private static final Duration SOON = Duration.ofSeconds(60);

    private static TestNamespace namespace;
    private static TestNamespace.Running operator;

    @BeforeAll
    static void start() {
        namespace = new TestNamespace();
        operator = namespace.operator(Map.of("OPERATOR_ALLOWED_IMAGES", "registry.example.com/team/*"));
    }

    @AfterAll
    static void stop() {
        operator.close();
        namespace.close();
    }

    private static boolean ready(Sandbox sandbox) {
        return sandbox.observed().holds(READY);
    }

    private static boolean is(Sandbox sandbox, ConditionType type, Reason reason) {
        return sandbox.observed().reason(type).equals(Optional.of(reason));
    }

    private static long version(HasMetadata object) {
        return Long.parseLong(object.getMetadata().getResourceVersion());
    }

    @Test
    void aSandboxIsReadyWithAnAddressAfterItsPoliciesKeysAndPodWereMadeInThatOrder() {
        namespace.create("ready", SandboxSpec.DEFAULT.withPorts(List.of(new SandboxPort("web", 8080))));

        Sandbox sandbox = namespace.await("ready", SOON, OperatorIT::ready);

        Pod pod = namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withName(sandbox.observed().podName())
                .get();
        assertThat(sandbox.observed().address()).isEqualTo(pod.getStatus().getPodIP());
        assertThat(sandbox.observed().incarnation()).isEqualTo(1);
        assertThat(sandbox.observed().holds(NETWORK_READY)).isTrue();
        NetworkPolicy ours = namespace.policy(ChildNames.networkPolicy(sandbox)).orElseThrow();
        assertThat(version(namespace.policy(ChildNames.NAMESPACE_POLICY).orElseThrow()))
                .isLessThan(version(ours));
        HasMetadata secret = namespace
                .admin
                .secrets()
                .inNamespace(namespace.name)
                .withName(sandbox.observed().podName())
                .require();
        assertThat(version(ours)).isLessThan(version(secret));
        assertThat(secret.getMetadata().getCreationTimestamp())
                .isLessThanOrEqualTo(pod.getMetadata().getCreationTimestamp());
    }

    @Test
    void suspendingTakesPodAndKeysAndResumingGivesTheNextIncarnation() {
        namespace.create("pause", SandboxSpec.DEFAULT);
        Sandbox running = namespace.await("pause", SOON, OperatorIT::ready);

        namespace.edit("pause", SandboxSpec.DEFAULT.withSuspended(true));
        Sandbox suspended =
                namespace.await("pause", SOON, sandbox -> sandbox.observed().holds(SUSPENDED));

        assertThat(is(suspended, READY, Reason.REQUESTED)).isTrue();
        assertThat(suspended.observed().address()).isNull();
        assertThat(namespace.secretExists(running, 1)).isFalse();
        await().atMost(SOON).until(() -> podsOf("pause").isEmpty());

        namespace.edit("pause", SandboxSpec.DEFAULT);
        Sandbox resumed = namespace.await("pause", SOON, OperatorIT::ready);

        assertThat(resumed.observed().incarnation()).isEqualTo(2);
        assertThat(resumed.observed().suspendedAt()).isNull();
        assertThat(namespace.secretExists(running, 2)).isTrue();
    }

    private static List<Pod> podsOf(String sandbox) {
        return namespace.pods().stream()
                .filter(pod -> sandbox.equals(pod.getMetadata().getLabels().get(SandboxLabels.SANDBOX)))
                .toList();
    }

    @Test
    void aDeletedPodIsReplacedAndItsKeysGo() {
        namespace.create("replaced", SandboxSpec.DEFAULT);
        Sandbox first = namespace.await("replaced", SOON, OperatorIT::ready);

        namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withName(first.observed().podName())
                .delete();
        Sandbox second = namespace.await(
                "replaced",
                SOON,
                sandbox -> ready(sandbox)
                        && Integer.valueOf(2).equals(sandbox.observed().incarnation()));

        assertThat(second.observed().podName()).isNotEqualTo(first.observed().podName());
        assertThat(namespace.secretExists(first, 1)).isFalse();
    }

    @Test
    void deletingASandboxLeavesNothingOfItBehind() {
        namespace.create("deleted", SandboxSpec.DEFAULT.withPorts(List.of(new SandboxPort("web", 8080))));
        Sandbox sandbox = namespace.await("deleted", SOON, OperatorIT::ready);
        assertThat(namespace.policy(ChildNames.networkPolicy(sandbox))).isPresent();
        double podsMade = operator.requests("POST", "pods");

        namespace.admin.resource(sandbox).delete();

        await().atMost(SOON)
                .until(() -> podsOf("deleted").isEmpty()
                        && !namespace.secretExists(sandbox, 1)
                        && namespace.policy(ChildNames.networkPolicy(sandbox)).isEmpty());
        assertThat(operator.requests("POST", "pods")).isEqualTo(podsMade);
    }

    @Test
    void anEditOfARunningSandboxWaitsForTheNextStart() {
        namespace.create("edited", SandboxSpec.DEFAULT);
        Sandbox before = namespace.await("edited", SOON, OperatorIT::ready);

        namespace.edit("edited", new SandboxSpec(null, new Quantity("256Mi"), null, null, null, false));
        Sandbox after = namespace.await("edited", SOON, sandbox -> is(sandbox, READY, Reason.UPDATE_PENDING));

        assertThat(ready(after)).isTrue();
        assertThat(after.observed().podName()).isEqualTo(before.observed().podName());
        assertThat(after.observed().observedGeneration()).isEqualTo(2);
    }

    @Test
    void aForbiddenImageIsToldAndHealsWithTheSpec() {
        namespace.create("forbidden", new SandboxSpec("registry.example.com/x:1", null, null, null, null, false));
        Sandbox refused = namespace.await("forbidden", SOON, sandbox -> is(sandbox, READY, Reason.IMAGE_FORBIDDEN));
        assertThat(podsOf("forbidden")).isEmpty();
        assertThat(refused.observed().incarnation()).isNull();

        namespace.edit("forbidden", SandboxSpec.DEFAULT);
        assertThat(namespace
                        .await("forbidden", SOON, OperatorIT::ready)
                        .observed()
                        .incarnation())
                .isEqualTo(1);
    }

    @Test
    void anImageThatCannotBePulledIsTold() {
        namespace.create("nopull", new SandboxSpec("registry.example.com/team/none:1", null, null, null, null, false));

        Sandbox sandbox = namespace.await("nopull", SOON, found -> is(found, READY, Reason.IMAGE_PULL_FAILED));

        assertThat(sandbox.observed().condition(READY).orElseThrow().getMessage())
                .contains("registry.example.com/team/none:1");
        namespace.admin.resource(sandbox).delete();
    }

    @ParameterizedTest
    @CsvSource({"pods, pods", "secrets, secrets", "count/networkpolicies.networking.k8s.io, networkpolicies"})
    void aUsedUpQuotaIsToldAndTriedAgain(String counted, String kind) {
        try (TestNamespace full = new TestNamespace();
                TestNamespace.Running theirs = full.operator(Map.of())) {
            full.admin
                    .resource(new ResourceQuotaBuilder()
                            .withNewMetadata()
                            .withName("none")
                            .withNamespace(full.name)
                            .endMetadata()
                            .withNewSpec()
                            .addToHard(counted, new Quantity("0"))
                            .endSpec()
                            .build())
                    .create();
            // Before it is counted for the first time, it refuses with other words.
            full.admin
                    .resourceQuotas()
                    .inNamespace(full.name)
                    .withName("none")
                    .waitUntilCondition(
                            quota -> !quota.getStatus().getHard().isEmpty(), SOON.toMillis(), TimeUnit.MILLISECONDS);
            full.create("quota", SandboxSpec.DEFAULT);
            Sandbox refused = full.await("quota", SOON, sandbox -> is(sandbox, READY, Reason.QUOTA_EXCEEDED));
            assertThat(refused.observed().incarnation()).isNull();
            assertThat(refused.observed().condition(NETWORK_READY).orElseThrow().getStatus())
                    .isEqualTo(kind.equals("networkpolicies") ? "False" : "True");
            assertThat(refused.observed().condition(READY).orElseThrow().getMessage())
                    .contains("exceeded quota", counted);

            full.admin.resourceQuotas().inNamespace(full.name).withName("none").delete();
            Sandbox started = full.await("quota", Duration.ofMinutes(2), OperatorIT::ready);
            assertThat(started.observed().incarnation()).isEqualTo(1);
            assertThat(started.observed().holds(NETWORK_READY)).isTrue();
            assertThat(theirs.requests("POST", kind)).isGreaterThanOrEqualTo(2);
        }
    }

    @Test
    void anIdleSandboxIsSuspendedAndStartsAgainWhenItsLeaseIsRenewed() {
        try (TestNamespace lazy = new TestNamespace();
                TestNamespace.Running theirs = lazy.operator(Map.of("OPERATOR_IDLE_TIMEOUT", "12s"))) {
            lazy.create("idle", SandboxSpec.DEFAULT);
            lazy.await("idle", SOON, OperatorIT::ready);
            Sandbox asleep = lazy.await("idle", SOON, sandbox -> is(sandbox, SUSPENDED, Reason.IDLE));
            assertThat(asleep.wanted().suspended()).isFalse();

            String uid = asleep.getMetadata().getUid();
            lazy.admin
                    .resource(new LeaseBuilder()
                            .withNewMetadata()
                            .withName(SandboxLabels.leaseName(uid))
                            .withNamespace(lazy.name)
                            .addToLabels(SandboxLabels.SANDBOX, "idle")
                            .addNewOwnerReference()
                            .withApiVersion("sandglass.dev/v1alpha1")
                            .withKind("Sandbox")
                            .withName("idle")
                            .withUid(uid)
                            .endOwnerReference()
                            .endMetadata()
                            .withNewSpec()
                            .withRenewTime(Instant.now().atZone(ZoneOffset.UTC))
                            .withLeaseDurationSeconds(60)
                            .endSpec()
                            .build())
                    .create();

            Sandbox awake = lazy.await("idle", SOON, OperatorIT::ready);
            assertThat(awake.observed().incarnation()).isEqualTo(2);
            assertThat(theirs.requests("DELETE", "pods"))
                    .as("once, or again before the watch has told of it")
                    .isPositive();
        }
    }
}
