package dev.sandglass.operator.pool;

import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.lifecycle.SeatState;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Optional;

/** A seat that no sandbox has claimed, as it was seen. */
record Seat(Pod pod, SeatState state) {

    static Seat of(Pod pod) {
        return new Seat(pod, SeatState.of(pod));
    }

    String name() {
        return pod.getMetadata().getName();
    }

    Instant made() {
        return Instant.parse(pod.getMetadata().getCreationTimestamp());
    }

    boolean isReady() {
        return state instanceof SeatState.Ready;
    }

    boolean isStarting() {
        return state instanceof SeatState.Starting;
    }

    boolean isFailed() {
        return state instanceof SeatState.Failed;
    }

    /** Whether it is there, or will be, for a sandbox to claim. */
    boolean counts() {
        return isReady() || isStarting();
    }

    /** Why it is not ready, or no more; empty if nothing is wrong with it as far as that is known. */
    Optional<SeatState.Trouble> trouble() {
        return switch (state) {
            case SeatState.Failed failed -> Optional.of(failed.trouble());
            case SeatState.Starting starting -> starting.trouble();
            case SeatState.Ready ready -> Optional.empty();
            case SeatState.Leaving leaving -> Optional.empty();
        };
    }

    /** Whether it was made from what seats are made from now. */
    boolean isOf(String hash) {
        return SeatPod.hashOf(pod).equals(hash);
    }
}
