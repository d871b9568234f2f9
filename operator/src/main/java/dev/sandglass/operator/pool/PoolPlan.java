package dev.sandglass.operator.pool;

import dev.sandglass.operator.child.SeatPod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What is to be done about a pool now. Pure.
 *
 * @param make whether to make one seat
 * @param end seats to end
 * @param review when to look again if nothing happens; empty if only an event leads to a look
 */
record PoolPlan(boolean make, List<Seat> end, Optional<Instant> review) {

    /** A pool makes one seat in that time: pods that start take processor time from sandboxes that are in use. */
    static final Duration PACE = Duration.ofSeconds(1);

    /** After a claim a pool waits for so long: whoever claimed the seat runs code in it now. */
    static final Duration QUIET = Duration.ofMillis(250);

    /** But claims that never cease hold up a seat no longer than this. */
    static final Duration LONGEST_QUIET = Duration.ofSeconds(5);

    /** A seat should be ready by then. */
    static final Duration START_WITHIN = Duration.ofSeconds(60);

    /** A seat that is not ready by then, and of which nothing is known, is given up: another node may be able to start one. */
    static final Duration GIVEN_UP_AFTER = Duration.ofMinutes(10);

    /** A seat that ended for another should have given up its room on the node by then. */
    static final Duration LEAVES_WITHIN = Duration.ofSeconds(10);

    static final Comparator<Seat> OLDEST_FIRST =
            Comparator.comparing(Seat::made).thenComparing(Seat::name);

    /** What is worth least goes first: seats that are not ready, and of these the newest. */
    private static final Comparator<Seat> LEAST_FIRST =
            Comparator.comparing(Seat::isReady).thenComparing(OLDEST_FIRST.reversed());

    PoolPlan {
        end = List.copyOf(end);
    }

    /** When a seat has become too old. */
    static Instant oldAt(Seat seat) {
        return seat.made().plus(SeatPod.MAX_AGE);
    }

    /** When a seat that no node has room for has waited long enough for one that was ended for it. */
    static Instant crowdedAt(Seat seat) {
        return seat.made().plus(LEAVES_WITHIN);
    }

    static PoolPlan of(PoolView seen) {
        List<Seat> end = new ArrayList<>();
        seen.seats().stream().filter(Seat::isFailed).forEach(end::add);
        List<Seat> present = new ArrayList<>(seen.present());
        List<Seat> givenUp =
                present.stream().filter(seat -> isGivenUp(seat, seen.now())).toList();
        present.removeAll(givenUp);
        end.addAll(givenUp);
        List<Seat> surplus = present.stream()
                .sorted(LEAST_FIRST)
                .limit(Math.max(0, present.size() - seen.wanted()))
                .toList();
        present.removeAll(surplus);
        end.addAll(surplus);
        List<Seat> aged = seen.aged();
        List<Seat> replaced = replaced(present, aged, seen.wanted());
        end.addAll(replaced);
        int claimable = present.size() + aged.size() - replaced.size();
        boolean lacking = present.size() < seen.wanted() && claimable <= seen.wanted() && mayStart(present, seen);
        Optional<Instant> next = lacking ? Optional.of(notBefore(seen)) : Optional.empty();
        boolean make = next.filter(at -> !seen.now().isBefore(at)).isPresent();
        end.addAll(outdated(seen, claimable + (make ? 1 : 0)));
        Optional<Instant> review = Stream.of(next.map(at -> make ? seen.now().plus(PACE) : at), review(present, seen))
                .flatMap(Optional::stream)
                .min(Comparator.naturalOrder());
        return new PoolPlan(make, end, review);
    }

    /**
     * Which of the seats that are too old go now. Those that are not ready are worth nothing; each of the others, which can be
     * claimed, stays until another one is ready in its place, as far as there is room for both.
     */
    private static List<Seat> replaced(List<Seat> present, List<Seat> aged, int wanted) {
        long ready = present.stream().filter(Seat::isReady).count();
        long kept = Math.max(0, Math.min(wanted - ready, wanted + 1 - present.size()));
        return allBut(kept, aged);
    }

    /**
     * Which of the seats go now that no sandbox can claim: one for each seat that takes its place, before that one is made, so
     * that a full quota and full nodes let it be. If it gets no room even so, the others hold what it lacks. Until then they
     * stay: whoever takes an edit back finds them again.
     *
     * @param others how many seats there are, or are made, besides
     */
    private static List<Seat> outdated(PoolView seen, int others) {
        return allBut(seen.isCrowded() ? 0 : Math.max(0, seen.wanted() - others), seen.outdated());
    }

    /** Those that are not ready, and the oldest of the others until so many are left. */
    private static List<Seat> allBut(long kept, List<Seat> seats) {
        List<Seat> usable =
                seats.stream().filter(Seat::isReady).sorted(OLDEST_FIRST).toList();
        return Stream.concat(
                        seats.stream().filter(seat -> !seat.isReady()),
                        usable.stream().limit(Math.max(0, usable.size() - kept)))
                .toList();
    }

    /** As long as one of them hangs and none of them is ready, more would hang too. */
    private static boolean mayStart(List<Seat> present, PoolView seen) {
        return seen.open().isEmpty()
                && (seen.stuck().filter(present::contains).isEmpty()
                        || present.stream().anyMatch(Seat::isReady));
    }

    private static boolean isGivenUp(Seat seat, Instant now) {
        return seat.isStarting()
                && seat.trouble().isEmpty()
                && !now.isBefore(seat.made().plus(GIVEN_UP_AFTER));
    }

    /** When the next seat may be made. */
    private static Instant notBefore(PoolView seen) {
        Instant longest = seen.memory().lacking().orElse(seen.now()).plus(LONGEST_QUIET);
        Optional<Instant> quiet =
                seen.lastClaim().map(at -> at.plus(QUIET)).map(at -> at.isAfter(longest) ? longest : at);
        return Stream.of(seen.memory().pauses(), quiet.stream(), seen.heldUntil().stream())
                .flatMap(times -> times)
                .max(Comparator.naturalOrder())
                .orElse(seen.now());
    }

    /** When a seat will have become too old, will be late, or lacks room for too long. */
    private static Optional<Instant> review(List<Seat> present, PoolView seen) {
        Stream<Instant> late = present.stream()
                .filter(Seat::isStarting)
                .flatMap(seat ->
                        Stream.of(seat.made().plus(START_WITHIN), seat.made().plus(GIVEN_UP_AFTER)));
        Stream<Instant> crowded =
                seen.outdated().isEmpty() ? Stream.empty() : seen.roomless().map(PoolPlan::crowdedAt);
        return Stream.of(present.stream().map(PoolPlan::oldAt), late, crowded)
                .flatMap(times -> times)
                .filter(at -> at.isAfter(seen.now()))
                .min(Comparator.naturalOrder());
    }
}
