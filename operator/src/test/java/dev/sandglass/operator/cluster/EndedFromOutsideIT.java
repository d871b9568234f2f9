package dev.sandglass.operator.cluster;

import static dev.sandglass.api.ConditionType.READY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClassBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods that the cluster ends: what the sandbox says of it, and that it comes back. */
class EndedFromOutsideIT {

    private static final Duration SOON = Duration.ofSeconds(60);

    /** The control plane takes a node for silent after 50 s, and our pods are told to leave it 30 s later. */
    private static final Duration NODE_LOSS = Duration.ofMinutes(4);

    private static final String NAME = "ended";

    private TestNamespace namespace;
    private TestNamespace.Running operator;

    @BeforeEach
    void start() {
        namespace = new TestNamespace();
        operator = namespace.operator(Map.of());
    }

    @AfterEach
    void stop() {
        operator.close();
        namespace.close();
    }

    private Sandbox started(SandboxSpec spec) {
        namespace.create(NAME, spec);
        return awaitReady(1, SOON);
    }

    private Sandbox awaitReady(int incarnation, Duration atMost) {
        return namespace.await(
                NAME,
                atMost,
                sandbox -> sandbox.observed().holds(READY)
                        && Integer.valueOf(incarnation)
                                .equals(sandbox.observed().incarnation()));
    }

    private Pod podOf(Sandbox sandbox) {
        return namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withName(sandbox.observed().podName())
                .require();
    }

    private SandboxSpec onFakeNodes() {
        return SandboxSpec.DEFAULT.withRuntimeClassName(FakeNode.runtimeClass(namespace));
    }

    private Events told() {
        return new Events(namespace);
    }

    /** The Events of the sandbox, which stay when its status has moved on. */
    private record Events(TestNamespace namespace) {

        Optional<String> note(Reason reason) {
            return namespace.admin.events().v1().events().inNamespace(namespace.name).list().getItems().stream()
                    .filter(event -> reason.value().equals(event.getReason())
                            && "Sandbox".equals(event.getRegarding().getKind()))
                    .map(event -> Objects.requireNonNull(event.getNote()))
                    .findFirst();
        }
    }

    @Test
    void anEvictionByOrderIsToldAndTheSandboxComesBack() {
        Sandbox before = started(SandboxSpec.DEFAULT);

        assertThat(namespace.admin.pods().resource(podOf(before)).evict()).isTrue();

        Sandbox after = awaitReady(2, SOON);
        assertThat(after.observed().podName()).isNotEqualTo(before.observed().podName());
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(told().note(Reason.EVICTED)).hasValueSatisfying(note -> assertThat(note)
                        .startsWith("The pod was evicted on request")
                        .endsWith("a fresh pod is starting")));
        await().atMost(SOON).untilAsserted(() -> new Belongings(namespace).areThoseOfARunning(after));
    }

    @Test
    void aNodeWithoutMemoryPutsThePodOut() {
        try (FakeNode node = new FakeNode(namespace, 1)) {
            Sandbox before = started(onFakeNodes());

            node.evict(podOf(before).getMetadata().getName());

            Sandbox after = awaitReady(2, SOON);
            await().atMost(SOON).untilAsserted(() -> assertThat(told().note(Reason.EVICTED))
                    .hasValueSatisfying(note ->
                            assertThat(note).startsWith("The node evicted the pod: The node was low on resource")));
            await().atMost(SOON).untilAsserted(() -> new Belongings(namespace).areThoseOfARunning(after));
        }
    }

    @Test
    void aPodOfHigherPriorityTakesItsPlaceUntilItGoes() {
        try (FakeNode node = new FakeNode(namespace, 1)) {
            Sandbox before = started(onFakeNodes());
            assertThat(podOf(before).getSpec().getNodeName()).isEqualTo(node.name);

            Pod urgent = urgent();
            try {
                Sandbox waiting = namespace.await(NAME, SOON, sandbox -> sandbox.observed()
                        .reason(READY)
                        .equals(Optional.of(Reason.UNSCHEDULABLE)));
                assertThat(waiting.observed().incarnation()).isEqualTo(2);
                await().atMost(SOON).untilAsserted(() -> assertThat(told().note(Reason.EVICTED))
                        .hasValueSatisfying(note ->
                                assertThat(note).startsWith("A pod of higher priority took the pod's place: ")));

                namespace.admin.resource(urgent).delete();
                awaitReady(2, Duration.ofSeconds(60));
            } finally {
                namespace
                        .admin
                        .scheduling()
                        .v1()
                        .priorityClasses()
                        .withName(namespace.name)
                        .delete();
            }
        }
    }

    /** A pod that needs all of the fake node and comes before others there. */
    private Pod urgent() {
        namespace
                .admin
                .resource(new PriorityClassBuilder()
                        .withNewMetadata()
                        .withName(namespace.name)
                        .endMetadata()
                        .withValue(1000)
                        .build())
                .create();
        return namespace
                .admin
                .resource(new PodBuilder()
                        .withNewMetadata()
                        .withName("urgent")
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .withNewSpec()
                        .withPriorityClassName(namespace.name)
                        .withRuntimeClassName(FakeNode.runtimeClass(namespace))
                        .withAutomountServiceAccountToken(false)
                        .withServiceAccountName("sandglass-sandbox")
                        .withNewSecurityContext()
                        .withRunAsNonRoot(true)
                        .withRunAsUser(65532L)
                        .withNewSeccompProfile()
                        .withType("RuntimeDefault")
                        .endSeccompProfile()
                        .endSecurityContext()
                        .withContainers(large())
                        .endSpec()
                        .build())
                .create();
    }

    private static Container large() {
        return new ContainerBuilder()
                .withName("urgent")
                .withImage("none")
                .withNewSecurityContext()
                .withAllowPrivilegeEscalation(false)
                .withNewCapabilities()
                .withDrop("ALL")
                .endCapabilities()
                .endSecurityContext()
                .withNewResources()
                .addToRequests("cpu", new Quantity("4"))
                .endResources()
                .build();
    }

    @Test
    void aLostNodeIsToldAndNotWaitedForAndItsPodIsLeftToTheCluster() {
        try (FakeNode lost = new FakeNode(namespace, 1)) {
            Sandbox before = started(onFakeNodes());
            lost.die();

            Sandbox silent = namespace.await(
                    NAME, NODE_LOSS, sandbox -> sandbox.observed().reason(READY).equals(Optional.of(Reason.NODE_LOST)));
            assertThat(silent.observed().podName()).isEqualTo(before.observed().podName());
            assertThat(silent.observed().condition(READY).orElseThrow().getMessage())
                    .startsWith("Node " + lost.name + " does not answer");

            Sandbox homeless = namespace.await(NAME, NODE_LOSS, sandbox -> sandbox.observed()
                    .reason(READY)
                    .equals(Optional.of(Reason.UNSCHEDULABLE)));
            assertThat(homeless.observed().incarnation()).isEqualTo(2);
            Pod stuck = podOf(before);
            assertThat(stuck.getMetadata().getDeletionTimestamp()).isNotNull();
            assertThat(FakeNode.disruption(stuck)).contains("DeletionByTaintManager");

            try (FakeNode other = new FakeNode(namespace, 2)) {
                Sandbox after = awaitReady(2, SOON);
                assertThat(podOf(after).getSpec().getNodeName()).isEqualTo(other.name);
                assertThat(podOf(before).getMetadata().getDeletionTimestamp())
                        .as("nobody removes it by force")
                        .isNotNull();
                lost.remove();
                await().atMost(NODE_LOSS).untilAsserted(() -> new Belongings(namespace).areThoseOfARunning(after));
            }
        }
    }
}
