package dev.sandglass.e2e.support;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The default tenant's namespace, seen by an administrator.
 *
 * @param kubernetes closed with this
 */
public record Tenant(KubernetesClient kubernetes) implements AutoCloseable {

    // A conflict; or 422, for states that a container does not go between.
    private static final Set<Integer> RACED = Set.of(HttpURLConnection.HTTP_CONFLICT, 422);

    private static final int ATTEMPTS = 20;

    public static final String NAMESPACE = "sandglass-default";

    public static Tenant of(Installation installation) {
        return new Tenant(installation.kubernetes());
    }

    public Resource<Sandbox> resource(String sandbox) {
        return kubernetes.resources(Sandbox.class).inNamespace(NAMESPACE).withName(sandbox);
    }

    public Sandbox sandbox(String name) {
        return resource(name).require();
    }

    /** Changes a sandbox as an administrator does; repeats it when the operator wrote in between. */
    public void change(String sandbox, UnaryOperator<Sandbox> change) {
        again(() -> resource(sandbox).edit(change));
    }

    /** Repeats an edit that fails with 409 because another client wrote in between; throws every other refusal. */
    public static <T> T again(Supplier<T> edit) {
        for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
            try {
                return edit.get();
            } catch (KubernetesClientException refused) {
                if (refused.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                    throw refused;
                }
            }
        }
        return edit.get();
    }

    /** Changes the status of a sandbox's pod as a node does, again when the node wrote between the reading and the writing. */
    public void changePodStatus(String sandbox, UnaryOperator<Pod> change) {
        await("a status that the API server takes")
                .pollDelay(Duration.ZERO)
                .ignoreExceptionsMatching(
                        e -> e instanceof KubernetesClientException refused && RACED.contains(refused.getCode()))
                .until(() -> kubernetes.resource(podOf(sandbox)).editStatus(change) != null);
    }

    /** The pod that a running sandbox has now. */
    public Pod podOf(String sandbox) {
        String name = String.valueOf(sandbox(sandbox).observed().podName());
        return kubernetes.pods().inNamespace(NAMESPACE).withName(name).require();
    }

    /** The id of the container in which a running sandbox lives now. */
    public String containerOf(String sandbox) {
        return podOf(sandbox).getStatus().getContainerStatuses().getFirst().getContainerID();
    }

    public boolean hasPod(Pod pod) {
        return kubernetes.pods().resource(pod).get() != null;
    }

    /** Whether an Event of the sandbox has this reason and these words. */
    public boolean isTold(Sandbox sandbox, Reason reason, String words) {
        return kubernetes.events().v1().events().inNamespace(NAMESPACE).list().getItems().stream()
                .anyMatch(event -> event.getRegarding() != null
                        && sandbox.getMetadata()
                                .getUid()
                                .equals(event.getRegarding().getUid())
                        && reason.value().equals(event.getReason())
                        && String.valueOf(event.getNote()).contains(words));
    }

    public String imageOf(String sandbox) {
        return podOf(sandbox).getSpec().getContainers().getFirst().getImage();
    }

    @Override
    public void close() {
        kubernetes.close();
    }
}
