package dev.sandglass.operator.lifecycle;

import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Comparator;
import java.util.Optional;

/**
 * A seat that runs and that no sandbox has claimed.
 *
 * @param pod of the seat
 */
public record ClaimableSeat(Pod pod) {

    static final Comparator<ClaimableSeat> OLDEST_FIRST = Comparator.comparing(ClaimableSeat::created)
            .thenComparing(seat -> seat.pod().getMetadata().getName());

    /** One whose kernels still start is sooner of use than a pod of its own, and later than any that is up. */
    static final Comparator<ClaimableSeat> UP_FIRST = Comparator.comparing(seat -> !seat.isUp());

    /** The pod as a seat that can be claimed; empty if it is none, is not up yet, or is on its way out. */
    public static Optional<ClaimableSeat> of(Pod pod) {
        return ClaimedPod.isFree(pod) && PodState.of(pod) instanceof PodState.Running
                ? Optional.of(new ClaimableSeat(pod))
                : Optional.empty();
    }

    /** Whether the kernels of the seat have started, as its startup probe says (PodShape). */
    private boolean isUp() {
        return SandboxContainer.containerStatus(pod)
                .filter(container -> Boolean.TRUE.equals(container.getReady()))
                .isPresent();
    }

    private Instant created() {
        return Instant.parse(pod.getMetadata().getCreationTimestamp());
    }
}
