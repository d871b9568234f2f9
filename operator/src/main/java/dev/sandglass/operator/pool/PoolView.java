package dev.sandglass.operator.pool;

import dev.sandglass.api.Reason;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.PodRefusal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Everything that was seen of a pool, at one time.
 *
 * @param seats unclaimed ones, with those that were made and that the cache does not show yet, without those that were ended
 * @param hash of what seats are made from now
 * @param refusal why the installation takes no pod with this template
 * @param open why no pod may be made in the namespace
 * @param lastClaim when a sandbox of the namespace last claimed a seat
 * @param heldUntil until when room in a quota is left to sandboxes
 */
record PoolView(
        SandboxPool pool,
        List<Seat> seats,
        String hash,
        Optional<PodRefusal> refusal,
        Optional<PodRefusal> open,
        PoolMemory memory,
        Optional<Instant> lastClaim,
        Optional<Instant> heldUntil,
        Instant now) {

    PoolView {
        seats = List.copyOf(seats);
    }

    /** How many seats there shall be; none from a template that is refused, which no sandbox could claim. */
    int wanted() {
        return refusal.isPresent() ? 0 : pool.wanted().replicas();
    }

    /** Seats as they are made now. */
    List<Seat> present() {
        return seats.stream().filter(seat -> seat.counts() && isPresent(seat)).toList();
    }

    /** Seats that are too old and that a sandbox can still claim. */
    List<Seat> aged() {
        return seats.stream()
                .filter(seat -> seat.counts() && seat.isOf(hash) && !isPresent(seat))
                .toList();
    }

    /** Seats of another template or other settings, which no sandbox can claim. */
    List<Seat> outdated() {
        return seats.stream().filter(seat -> seat.counts() && !seat.isOf(hash)).toList();
    }

    private boolean isPresent(Seat seat) {
        return seat.isOf(hash) && now.isBefore(PoolPlan.oldAt(seat));
    }

    /** A seat that should be ready by now and is not, or cannot become so before something is changed. */
    Optional<Seat> stuck() {
        return present().stream()
                .filter(Seat::isStarting)
                .filter(seat ->
                        seat.trouble().isPresent() || !now.isBefore(seat.made().plus(PoolPlan.START_WITHIN)))
                .min(PoolPlan.OLDEST_FIRST);
    }

    /** Whether a seat lacks room, on the nodes or in a quota, that a seat which ended a while ago did not give it. */
    boolean isCrowded() {
        return roomless().anyMatch(seat -> !now.isBefore(PoolPlan.crowdedAt(seat)))
                || memory.setback().filter(Setback::isCrowded).isPresent();
    }

    /** Seats that no node has room for. */
    Stream<Seat> roomless() {
        return present().stream().filter(seat -> seat.trouble()
                .filter(trouble -> trouble.reason() == Reason.UNSCHEDULABLE)
                .isPresent());
    }

    /** The same after the plan was carried out as far as it could be. */
    PoolView after(List<Seat> seatsNow, PoolMemory memoryNow) {
        return new PoolView(pool, seatsNow, hash, refusal, open, memoryNow, lastClaim, heldUntil, now);
    }
}
