package dev.sandglass.operator.sandbox;

import dev.sandglass.operator.write.ApiErrors;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what a node reported of a pod. The API server goes through all Events of the namespace for that, so it is asked at most
 * twice a second, however many pods are slow.
 */
public final class PodEvents {

    static final Duration PAUSE = Duration.ofMillis(500);

    /** The newest say enough, and a pod has few. */
    private static final long MOST = 100;

    private static final Logger LOG = LoggerFactory.getLogger(PodEvents.class);

    private final KubernetesClient client;
    private Instant next = Instant.MIN;

    public PodEvents(KubernetesClient client) {
        this.client = client;
    }

    /** The Events that regard a pod; empty if it is not the time to ask, or the API server does not answer. */
    Optional<List<Event>> of(Pod pod, Instant now) {
        if (!mayAsk(now)) {
            return Optional.empty();
        }
        try {
            return Optional.of(client.v1()
                    .events()
                    .inNamespace(pod.getMetadata().getNamespace())
                    .withField("involvedObject.uid", pod.getMetadata().getUid())
                    .list(new ListOptionsBuilder().withLimit(MOST).build())
                    .getItems());
        } catch (KubernetesClientException e) {
            LOG.atInfo()
                    .addKeyValue("namespace", pod.getMetadata().getNamespace())
                    .addKeyValue("pod", pod.getMetadata().getName())
                    .addKeyValue("cause", ApiErrors.briefly(e))
                    .log("The Events of a slow pod could not be read");
            return Optional.empty();
        }
    }

    private synchronized boolean mayAsk(Instant now) {
        if (now.isBefore(next)) {
            return false;
        }
        next = now.plus(PAUSE);
        return true;
    }
}
