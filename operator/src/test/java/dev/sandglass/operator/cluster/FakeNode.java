package dev.sandglass.operator.cluster;

import static java.util.Objects.requireNonNull;

import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.node.v1.RuntimeClass;
import io.fabric8.kubernetes.api.model.node.v1.RuntimeClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * A Node without a machine: the scheduler gives it the pods of its RuntimeClass, and this class tells of them what a
 * kubelet would, until it is told to die.
 */
final class FakeNode implements AutoCloseable {

    private static final String LABEL = "sandglass.dev/integration-test";
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    /** So old are its pods from the start, lest their end count as an early one. */
    private static final Duration AGE = Duration.ofMinutes(5);

    /** So long a kubelet needs to see that a container has ended; nobody learns why of a pod that goes in no time. */
    private static final Duration LAST_MOMENT = Duration.ofSeconds(1);

    private static final Duration SOON = Duration.ofSeconds(60);

    final String name;
    private final String joined = now();
    private final TestNamespace namespace;
    private final KubernetesClient admin;
    private final Watch pods;
    private final Future<?> beats;
    private final ScheduledExecutorService heart = Executors.newSingleThreadScheduledExecutor();
    private volatile boolean dead;

    /**
     * Joins the cluster.
     *
     * @param number tells the nodes of one namespace apart; they share the RuntimeClass {@link #runtimeClass}
     */
    FakeNode(TestNamespace namespace, int number) {
        this.namespace = namespace;
        this.admin = namespace.admin;
        this.name = namespace.name + "-" + number;
        makeRuntimeClass();
        admin.resource(node()).create();
        // Every node begins with a taint that keeps pods away, till the control plane has looked at it.
        admin.nodes().withName(name).waitUntilCondition(FakeNode::isOpen, SOON.toMillis(), TimeUnit.MILLISECONDS);
        this.beats = heart.scheduleAtFixedRate(this::beat, 0, 5, TimeUnit.SECONDS);
        this.pods = admin.pods()
                .inNamespace(namespace.name)
                .withField("spec.nodeName", name)
                .watch(new Watcher<>() {
                    @Override
                    public void eventReceived(Action action, Pod pod) {
                        attend(action, pod);
                    }

                    @Override
                    public void onClose(WatcherException cause) {
                        dead = true;
                    }
                });
    }

    /** The RuntimeClass whose pods run on the fake nodes of a namespace and nowhere else. */
    static String runtimeClass(TestNamespace namespace) {
        return namespace.name;
    }

    private static boolean isOpen(Node node) {
        return node.getSpec().getTaints().stream().allMatch(taint -> LABEL.equals(taint.getKey()));
    }

    private void makeRuntimeClass() {
        try {
            admin.resource(new RuntimeClassBuilder()
                            .withNewMetadata()
                            .withName(runtimeClass(namespace))
                            .endMetadata()
                            .withHandler("runc")
                            .withNewScheduling()
                            .withNodeSelector(Map.of(LABEL, namespace.name))
                            .addNewToleration("NoSchedule", LABEL, "Exists", null, null)
                            .endScheduling()
                            .build())
                    .create();
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT) {
                throw e;
            }
        }
    }

    private Node node() {
        Map<String, Quantity> room = Map.of(
                "cpu", new Quantity("4"),
                "memory", new Quantity("8Gi"),
                "ephemeral-storage", new Quantity("50Gi"),
                "pods", new Quantity("10"));
        return new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels(LABEL, namespace.name)
                .endMetadata()
                .withNewSpec()
                .addNewTaint("NoSchedule", LABEL, null, namespace.name)
                .endSpec()
                .withNewStatus()
                .withCapacity(room)
                .withAllocatable(room)
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .withReason("KubeletReady")
                .withLastHeartbeatTime(now())
                .withLastTransitionTime(joined)
                .endCondition()
                .endStatus()
                .build();
    }

    private void beat() {
        try {
            admin.resource(node()).patchStatus();
        } catch (KubernetesClientException e) {
            // The next one counts as well.
        }
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    private void attend(Watcher.Action action, Pod pod) {
        if (action == Watcher.Action.DELETED) {
            return;
        }
        if (pod.getMetadata().getDeletionTimestamp() != null) {
            CompletableFuture.delayedExecutor(LAST_MOMENT.toMillis(), TimeUnit.MILLISECONDS)
                    .execute(() -> unlessDead(
                            () -> admin.resource(pod).withGracePeriod(0).delete()));
        } else if (pod.getStatus().getStartTime() == null) {
            Thread.ofVirtual().start(() -> unlessDead(() -> writeStatus(pod, running())));
        }
    }

    private void unlessDead(Runnable word) {
        if (dead) {
            return;
        }
        try {
            word.run();
        } catch (KubernetesClientException e) {
            if (e.getCode() != NOT_FOUND && e.getCode() != CONFLICT) {
                throw e;
            }
        }
    }

    private static PodStatus running() {
        return new PodStatusBuilder()
                .withPhase("Running")
                .withPodIP("10.255.255.1")
                .withStartTime(
                        Instant.now().minus(AGE).truncatedTo(ChronoUnit.SECONDS).toString())
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .withLastTransitionTime(now())
                .endCondition()
                .addNewContainerStatus()
                .withName("sandbox")
                .withImage("none")
                .withImageID("none")
                .withReady(true)
                .withRestartCount(0)
                .withNewState()
                .withNewRunning()
                .withStartedAt(now())
                .endRunning()
                .endState()
                .endContainerStatus()
                .build();
    }

    private Pod writeStatus(Pod pod, PodStatus status) {
        return admin.resource(pod.edit().withStatus(status).build()).patchStatus();
    }

    /** Puts a pod out as a kubelet does that has no memory left. */
    void evict(String pod) {
        namespace.again(() -> {
            Pod found = requireNonNull(
                    admin.pods().inNamespace(namespace.name).withName(pod).get());
            return writeStatus(
                    found,
                    found.getStatus()
                            .edit()
                            .withPhase("Failed")
                            .withReason("Evicted")
                            .withMessage("The node was low on resource: memory. ")
                            .withContainerStatuses()
                            .build());
        });
    }

    /** From now on nobody hears of it or its pods, nor that one has ended. */
    void die() {
        dead = true;
        beats.cancel(true);
        heart.shutdownNow();
    }

    /** Leaves the cluster, as its administrator does with a node that will not come back. */
    void remove() {
        admin.nodes().withName(name).delete();
    }

    /** Why a pod is being deleted, by the words of whoever deletes it. */
    static Optional<String> disruption(Pod pod) {
        return pod.getStatus().getConditions().stream()
                .filter(condition -> "DisruptionTarget".equals(condition.getType()))
                .findFirst()
                .map(condition -> condition.getReason());
    }

    @Override
    public void close() {
        die();
        pods.close();
        remove();
        admin.resources(RuntimeClass.class).withName(runtimeClass(namespace)).delete();
        for (Pod pod : namespace.pods()) {
            if (name.equals(pod.getSpec().getNodeName())) {
                admin.resource(pod).withGracePeriod(0).delete();
            }
        }
    }
}
