package dev.sandglass.e2e.support;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.LocalPortForward;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The gateway's replicas one by one, where everybody else sees only their Service. */
public final class GatewayReplicas implements AutoCloseable {

    private static final int PORT = 8080;

    private final Installation installation;
    private final KubernetesClient kubernetes;
    private final List<AutoCloseable> open = new ArrayList<>();
    private final Set<String> crashed = new HashSet<>();

    public GatewayReplicas(Installation installation) {
        this.installation = installation;
        this.kubernetes = installation.kubernetes();
    }

    /** Two that are Ready, the eldest first; waits until there are two. */
    public List<Pod> two() {
        await("two Ready gateway replicas").atMost(Duration.ofMinutes(2)).until(() -> ready().size() >= 2);
        return ready().subList(0, 2);
    }

    /** A client that talks to this replica and no other. */
    public Agent agentOf(Pod replica) {
        Agent agent = Agent.connect(endpointOf(replica), installation.token());
        open.add(agent);
        return agent;
    }

    public URI endpointOf(Pod replica) {
        String place =
                installation.ownNode().isPresent() ? replica.getStatus().getPodIP() + ":" + PORT : forwarded(replica);
        return URI.create("http://" + place + installation.endpoint().getPath());
    }

    /** Where pods' addresses lead nowhere from here. It does not tell its client when the pod's end breaks. */
    private String forwarded(Pod replica) {
        LocalPortForward forward = kubernetes.pods().resource(replica).portForward(PORT);
        open.add(forward);
        return "127.0.0.1:" + forward.getLocalPort();
    }

    /** Ends the replica's process without a goodbye; the kubelet starts it again in the same pod. */
    public void crash(Pod replica) {
        Node node = installation.ownNode().orElseThrow();
        String container =
                containerOf(kubernetes.pods().resource(replica).require()).orElseThrow();
        crashed.add(container);
        node.crash(container);
    }

    private static Optional<String> containerOf(Pod replica) {
        return replica.getStatus().getContainerStatuses().stream().findFirst().map(ContainerStatus::getContainerID);
    }

    /** Deletes the replica's pod as an upgrade does, with its grace; does not wait. */
    public void drain(Pod replica) {
        kubernetes.pods().resource(replica).delete();
    }

    /** Deletes the replica's pod with no grace and waits until it is gone. */
    public void delete(Pod replica) {
        kubernetes.pods().resource(replica).withGracePeriod(0).delete();
        await("the replica to be gone")
                .atMost(Duration.ofSeconds(30))
                .until(() -> kubernetes.pods().resource(replica).get() == null);
    }

    private List<Pod> ready() {
        return kubernetes
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabel(Installation.OF_CHART)
                .withLabel(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_GATEWAY)
                .list()
                .getItems()
                .stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .filter(Readiness::isPodReady)
                // A pod counts as Ready for a moment after its process was killed.
                .filter(pod -> containerOf(pod).filter(crashed::contains).isEmpty())
                .sorted(Comparator.comparing(pod -> pod.getMetadata().getCreationTimestamp()))
                .toList();
    }

    @Override
    public void close() {
        for (AutoCloseable each : open.reversed()) {
            try {
                each.close();
            } catch (Exception e) {
                // The other end may be the replica that the test killed.
            }
        }
        kubernetes.close();
    }
}
