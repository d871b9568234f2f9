package dev.sandglass.e2e;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;

/**
 * The default tenant's namespace, seen by an administrator.
 *
 * @param kubernetes closed with this
 */
record Tenant(KubernetesClient kubernetes) implements AutoCloseable {

    static final String NAMESPACE = "sandglass-default";

    static Tenant of(Installation installation) {
        return new Tenant(installation.kubernetes());
    }

    Resource<Sandbox> resource(String sandbox) {
        return kubernetes.resources(Sandbox.class).inNamespace(NAMESPACE).withName(sandbox);
    }

    Sandbox sandbox(String name) {
        return resource(name).require();
    }

    /** The pod that a running sandbox has now. */
    Pod podOf(String sandbox) {
        String name = String.valueOf(sandbox(sandbox).observed().podName());
        return kubernetes.pods().inNamespace(NAMESPACE).withName(name).require();
    }

    /** The id of the container in which a running sandbox lives now. */
    String containerOf(String sandbox) {
        return podOf(sandbox).getStatus().getContainerStatuses().getFirst().getContainerID();
    }

    boolean hasPod(Pod pod) {
        return kubernetes.pods().resource(pod).get() != null;
    }

    /** Whether an Event of the sandbox has this reason and these words. */
    boolean isTold(Sandbox sandbox, Reason reason, String words) {
        return kubernetes.events().v1().events().inNamespace(NAMESPACE).list().getItems().stream()
                .anyMatch(event -> event.getRegarding() != null
                        && sandbox.getMetadata()
                                .getUid()
                                .equals(event.getRegarding().getUid())
                        && reason.value().equals(event.getReason())
                        && String.valueOf(event.getNote()).contains(words));
    }

    String imageOf(String sandbox) {
        return podOf(sandbox).getSpec().getContainers().getFirst().getImage();
    }

    @Override
    public void close() {
        kubernetes.close();
    }
}
