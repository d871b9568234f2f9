package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** What the pod of a seat amounts to for its pool, in the words that a sandbox's Ready has for the same. Pure. */
public sealed interface SeatState {

    /** A sandbox can claim it. */
    record Ready() implements SeatState {}

    /**
     * On its way up.
     *
     * @param trouble what holds it up; empty as long as nothing does
     */
    record Starting(Optional<Trouble> trouble) implements SeatState {}

    /** It will not be ready, or is no more. */
    record Failed(Trouble trouble) implements SeatState {}

    /** It is being deleted. */
    record Leaving() implements SeatState {}

    /** Why a seat is not ready. */
    record Trouble(Reason reason, String message) {}

    /** Reads a pod. */
    static SeatState of(Pod pod) {
        return switch (PodState.of(pod)) {
            case PodState.Leaving leaving -> new Leaving();
            case PodState.Running running -> new Ready();
            case PodState.Ended ended -> new Failed(new Trouble(ended.reason(), ended.message()));
            case PodState.Starting starting ->
                new Starting(Optional.of(new Trouble(starting.reason(), starting.message()))
                        .filter(trouble -> trouble.reason() != Reason.STARTING));
            case PodState.Broken broken ->
                // Its Secret comes after the pod, and the node may be faster.
                Observed.lacksKeys(pod)
                        ? new Starting(Optional.empty())
                        : new Failed(new Trouble(broken.reason(), broken.message()));
        };
    }
}
