package dev.sandglass.operator.pool;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What the operator made and ended of one pool and the cache does not show yet. Without it a cache that is behind would have the
 * operator make a seat twice. For one thread at a time.
 */
final class SeatExpectations {

    /** The cache is seldom behind for longer; then the API server is asked. */
    static final Duration DOUBT_AFTER = Duration.ofSeconds(5);

    private final Map<String, Made> made = new LinkedHashMap<>();
    private final Set<String> ended = new HashSet<>();
    private final Set<String> ready = new HashSet<>();
    private Optional<Instant> claimed = Optional.empty();

    private record Made(Pod pod, Instant at) {}

    /** Notes a seat that is about to be made: the answer may be lost. */
    void making(Pod desired, Instant now) {
        Pod pod = desired.toBuilder()
                .editMetadata()
                .withCreationTimestamp(now.truncatedTo(ChronoUnit.SECONDS).toString())
                .endMetadata()
                .build();
        made.put(pod.getMetadata().getName(), new Made(pod, now));
    }

    /** Notes that a seat was not made. */
    void notMade(Pod desired) {
        made.remove(desired.getMetadata().getName());
    }

    /** Notes that a seat is on its way out. */
    void ended(Seat seat) {
        made.remove(seat.name());
        ready.remove(seat.name());
        ended.add(seat.name());
    }

    /**
     * The seats that there are.
     *
     * @param cached unclaimed ones, as the cache has them
     */
    List<Seat> seats(List<Pod> cached) {
        Set<String> names = new HashSet<>();
        cached.forEach(pod -> names.add(pod.getMetadata().getName()));
        made.keySet().removeAll(names);
        ended.retainAll(names);
        List<Seat> seats = new ArrayList<>();
        cached.stream()
                .filter(pod -> !ended.contains(pod.getMetadata().getName()))
                .map(Seat::of)
                .forEach(seats::add);
        made.values().stream().map(Made::pod).map(Seat::of).forEach(seats::add);
        return seats;
    }

    /**
     * When a ready seat was last found gone that the operator had not ended: most likely a sandbox claimed it. Empty if none
     * was.
     *
     * @param seats all that there are now
     */
    Optional<Instant> lastClaim(List<Seat> seats, Instant now) {
        Set<String> names = new HashSet<>();
        seats.forEach(seat -> names.add(seat.name()));
        if (!names.containsAll(ready)) {
            claimed = Optional.of(now);
        }
        ready.clear();
        seats.stream().filter(Seat::isReady).map(Seat::name).forEach(ready::add);
        return claimed;
    }

    /** The seats that the cache should show by now and does not. */
    List<Pod> doubtful(Instant now) {
        return made.values().stream()
                .filter(one -> !now.isBefore(one.at().plus(DOUBT_AFTER)))
                .map(Made::pod)
                .toList();
    }

    /** When the next one becomes doubtful. */
    Optional<Instant> nextDoubt() {
        return made.values().stream().map(one -> one.at().plus(DOUBT_AFTER)).min(Comparator.naturalOrder());
    }

    /** Notes that a seat is there, unclaimed, by the API server's own word. */
    void confirmed(Pod pod, Instant now) {
        made.put(pod.getMetadata().getName(), new Made(pod, now));
    }
}
