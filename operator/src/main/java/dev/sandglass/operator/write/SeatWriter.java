package dev.sandglass.operator.write;

import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.lifecycle.SeatState;
import dev.sandglass.operator.pod.PodSubject;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Makes seats and ends them. What a pod needs besides itself is the matter of {@link ChildWriter}. */
public final class SeatWriter {

    /** A sandbox that a quota kept out tries again within that time. */
    static final Duration ROOM_HELD = Duration.ofSeconds(30);

    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;

    private final KubernetesClient client;
    private final ChildWriter children;

    /** One entry a namespace, which the installation's administrator makes. */
    private final Map<String, Instant> held = new ConcurrentHashMap<>();

    public SeatWriter(KubernetesClient client, ChildWriter children) {
        this.client = client;
        this.children = children;
    }

    /** What a seat that is made now is made with. */
    public SeatPod.Making making() {
        return children.making();
    }

    /**
     * Makes a seat: the pod first, and then its Secret, which the pod owns and for which its node waits. A pod whose Secret is
     * refused is ended again: it would wait for ever.
     *
     * @param seatId random, never one that was given before
     */
    public ChildWriter.PodResult make(SandboxPool pool, String seatId, SeatPod.Making making) {
        try {
            Pod desired = SeatPod.desired(pool, seatId, making);
            Pod made = children.made(desired)
                    .orElseThrow(() -> new IllegalStateException("There is a pod of a new seat's name: "
                            + desired.getMetadata().getName()));
            return withKeys(made);
        } catch (KubernetesClientException e) {
            if (!ApiErrors.isRefusal(e)) {
                throw e;
            }
            return ChildWriter.refused(
                    ApiErrors.isQuota(e) ? Reason.QUOTA_EXCEEDED : Reason.POD_REFUSED, ApiErrors.of(e));
        }
    }

    private ChildWriter.PodResult withKeys(Pod made) {
        try {
            giveKeys(made);
            return new ChildWriter.PodResult(Optional.of(made), Optional.empty());
        } catch (KubernetesClientException e) {
            if (ApiErrors.isRefusal(e)) {
                children.delete(made);
            }
            throw e;
        }
    }

    /**
     * Creates the Secret of a pod that is, or was, a seat, if it is not there: an operator may have died between the two.
     *
     * @param seat as it is in the cluster
     */
    public void giveKeys(Pod seat) {
        PodSubject subject = SeatPod.seatOf(seat)
                .map(SeatPod::subject)
                .orElseThrow(() -> new IllegalArgumentException("Not the pod of a seat"));
        children.createUnlessPresent(children.keysOf(SeatPod.ofSecret(seat), subject));
    }

    /** Ends a seat, unless it was changed since it was read: a sandbox may have claimed it. True if it is on its way out. */
    public boolean end(Pod seat) {
        try {
            client.resource(seat)
                    .lockResourceVersion(seat.getMetadata().getResourceVersion())
                    .delete();
            return true;
        } catch (KubernetesClientException e) {
            if (e.getCode() != CONFLICT && e.getCode() != NOT_FOUND) {
                throw e;
            }
            return e.getCode() == NOT_FOUND;
        }
    }

    /**
     * Ends a seat to make room in a full quota for a sandbox, and has the pools of the namespace leave that room for a while.
     *
     * @param seats unclaimed ones of the namespace, in any order; the newest goes, and before it one that is not ready; the
     *     next one if a sandbox was faster
     * @return whether one is on its way out
     */
    public boolean makeRoom(String namespace, List<Pod> seats, Instant now) {
        List<Pod> least = seats.stream()
                .filter(pod -> !(SeatState.of(pod) instanceof SeatState.Leaving))
                .sorted(Comparator.comparing((Pod pod) -> SeatState.of(pod) instanceof SeatState.Ready)
                        .thenComparing(
                                pod -> pod.getMetadata().getCreationTimestamp(), Comparator.<String>reverseOrder()))
                .toList();
        if (least.isEmpty()) {
            return false;
        }
        // First, as the pool may hear of the end before this goes on.
        held.put(namespace, now.plus(ROOM_HELD));
        return least.stream().anyMatch(this::end);
    }

    /** Until when room in a namespace's quota is left to sandboxes; empty if none was made. */
    public Optional<Instant> heldUntil(String namespace) {
        return Optional.ofNullable(held.get(namespace));
    }

    /** The seats that a pool let go that is gone, by the API server's own word. */
    public List<Pod> orphans(SandboxPool gone) {
        return client
                .pods()
                .inNamespace(gone.getMetadata().getNamespace())
                .withLabelSelector(
                        SandboxLabels.MANAGED_BY + "=" + SandboxLabels.OPERATOR + "," + SeatPod.selector(gone))
                .list()
                .getItems()
                .stream()
                .filter(SeatPod::isOrphan)
                .toList();
    }

    /** A pod as the API server has it now; empty if it is gone. */
    public Optional<Pod> find(Pod seat) {
        return Optional.ofNullable(client.resource(seat).get());
    }
}
