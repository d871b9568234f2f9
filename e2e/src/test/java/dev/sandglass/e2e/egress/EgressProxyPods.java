package dev.sandglass.e2e.egress;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.e2e.support.Installation;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.RollableScalableResource;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.time.Duration;
import java.util.List;

/**
 * The egress proxy's Deployment and its pods, seen by an administrator.
 *
 * @param kubernetes closed by whoever opened it
 */
record EgressProxyPods(KubernetesClient kubernetes) {

    static final int PORT = 3128;
    static final int DENIALS_PORT = 3129;
    static final int MANAGEMENT_PORT = 8081;

    private static final String NAME = "sandglass-egress-proxy";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    boolean isInstalled() {
        return deployment().get() != null;
    }

    /** The address that sandboxes are told. */
    String serviceAddress() {
        return kubernetes
                .services()
                .inNamespace(Installation.NAMESPACE)
                .withName(NAME)
                .require()
                .getSpec()
                .getClusterIP();
    }

    List<Pod> running() {
        return kubernetes
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabel(SandboxLabels.COMPONENT, "egress-proxy")
                .list()
                .getItems()
                .stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .toList();
    }

    List<String> addresses() {
        return running().stream().map(pod -> pod.getStatus().getPodIP()).toList();
    }

    int replicas() {
        return deployment().require().getSpec().getReplicas();
    }

    /** Scales and waits until exactly that many are there, all of them Ready. */
    void scaleTo(int replicas) {
        deployment().scale(replicas);
        await("%d egress proxies".formatted(replicas)).atMost(PATIENCE).until(() -> {
            List<Pod> all = kubernetes
                    .pods()
                    .inNamespace(Installation.NAMESPACE)
                    .withLabel(SandboxLabels.COMPONENT, "egress-proxy")
                    .list()
                    .getItems();
            return all.size() == replicas && all.stream().allMatch(Readiness::isPodReady);
        });
    }

    /** Deletes a replica with no grace and waits until all are Ready again. */
    void replace(Pod replica) {
        int replicas = replicas();
        kubernetes.pods().resource(replica).withGracePeriod(0).delete();
        await("a replica in place of " + replica.getMetadata().getName())
                .atMost(PATIENCE)
                .until(() -> running().size() == replicas && running().stream().allMatch(Readiness::isPodReady));
    }

    private RollableScalableResource<Deployment> deployment() {
        return kubernetes
                .apps()
                .deployments()
                .inNamespace(Installation.NAMESPACE)
                .withName(NAME);
    }
}
