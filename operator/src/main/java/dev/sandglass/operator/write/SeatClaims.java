package dev.sandglass.operator.write;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.lifecycle.ClaimableSeat;
import dev.sandglass.operator.lifecycle.PodChoice;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims seats for sandboxes. A claim applies to the very version of the seat that was looked at, so that no seat is claimed
 * twice. Rounds of the same process leave each other the seats that they are about to claim.
 */
public final class SeatClaims implements ClaimActivity {

    /** So many seats are asked for; a sandbox had better have a pod of its own than lose one race after the other. */
    static final int MOST_ATTEMPTS = 3;

    private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
    private static final Logger LOG = LoggerFactory.getLogger(SeatClaims.class);
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;

    /** UIDs of the seats that a round is about to claim. */
    private final Set<String> underWay = ConcurrentHashMap.newKeySet();

    /** One entry a namespace that has a pool, which the installation's administrator lets it have. */
    private final Map<String, Instant> latest = new ConcurrentHashMap<>();

    public SeatClaims(KubernetesClient client) {
        this.client = client;
    }

    /** The cache of pods, which rounds that run at the same time share. */
    public interface Seats {

        /** The seat as the cache has it by now; empty if it is gone. */
        Optional<Pod> latest(Pod seat);

        /** Takes a claimed pod into the cache. */
        void remember(Pod claimed, Pod before);
    }

    /**
     * Claims the first of these seats that is still free; empty if none was.
     *
     * @param cold the pod that would be made for that incarnation of the sandbox
     * @throws KubernetesClientException if the API server did not say whether it made the claim
     */
    public Optional<Pod> first(
            List<ClaimableSeat> seats, Seats cache, Sandbox sandbox, int incarnation, Pod cold, Instant now) {
        latest.put(sandbox.getMetadata().getNamespace(), now);
        int attempts = 0;
        for (ClaimableSeat seat : seats) {
            String uid = seat.pod().getMetadata().getUid();
            if (attempts == MOST_ATTEMPTS) {
                return Optional.empty();
            }
            if (!underWay.add(uid)) {
                continue;
            }
            try {
                // Another round may have claimed it since the list was made.
                Optional<Pod> free = cache.latest(seat.pod()).filter(ClaimedPod::isFree);
                attempts += free.isPresent() ? 1 : 0;
                Optional<Pod> claimed = free.flatMap(pod -> claim(pod, sandbox, incarnation, cold, now));
                if (claimed.isPresent()) {
                    // Before other rounds may look at it again.
                    cache.remember(claimed.get(), free.get());
                    return claimed;
                }
            } finally {
                underWay.remove(uid);
            }
        }
        return Optional.empty();
    }

    private Optional<Pod> claim(Pod seat, Sandbox sandbox, int incarnation, Pod cold, Instant now) {
        String patch = Serialization.asJson(ClaimedPod.claim(seat, cold, now));
        try {
            return Optional.of(client.resource(seat).patch(MERGE, patch));
        } catch (KubernetesClientException e) {
            if (e.getCode() == CONFLICT) {
                // The client asks again if it gets no answer, and the first time may have been the claim.
                return Optional.ofNullable(client.resource(seat).get())
                        .filter(pod -> isLiveOf(sandbox, incarnation, pod));
            }
            if (e.getCode() != NOT_FOUND && !ApiErrors.isRefusal(e)) {
                throw e;
            }
            LOG.atInfo()
                    .addKeyValue("sandbox", sandbox.getMetadata().getName())
                    .addKeyValue("namespace", sandbox.getMetadata().getNamespace())
                    .addKeyValue("seat", seat.getMetadata().getName())
                    .addKeyValue("cause", ApiErrors.briefly(e))
                    .log("A seat could not be claimed");
            return Optional.empty();
        }
    }

    /**
     * The pod that an incarnation of a sandbox has, by the API server itself: the answer to a claim may have been lost, and then
     * the cache may not show it yet.
     */
    public Optional<Pod> present(Sandbox sandbox, int incarnation) {
        return client
                .pods()
                .inNamespace(sandbox.getMetadata().getNamespace())
                .withLabel(SandboxLabels.SANDBOX_UID, sandbox.getMetadata().getUid())
                .list()
                .getItems()
                .stream()
                .filter(pod -> isLiveOf(sandbox, incarnation, pod))
                .min(PodChoice.OLDEST_FIRST);
    }

    private static boolean isLiveOf(Sandbox sandbox, int incarnation, Pod pod) {
        return pod.getMetadata().getDeletionTimestamp() == null && ClaimedPod.isOf(sandbox, incarnation, pod);
    }

    @Override
    public Optional<Instant> latest(String namespace) {
        return Optional.ofNullable(latest.get(namespace));
    }
}
