package dev.sandglass.operator.pool;

import dev.sandglass.operator.child.PodRefusal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the operator remembers of a pool from one round to the next. It may forget it at any time: what is lost are pauses. Pure.
 *
 * @param hash see {@link dev.sandglass.operator.child.SeatPod#hash}; another one is another template, to be tried at once
 * @param lastMade when it last made a seat
 * @param lacking since when it wants another seat
 * @param setback what went wrong since a seat last started; empty if nothing did
 * @param ended names of failed seats that are counted already
 * @param untold since when the status says something else than it should; empty if it is up to date
 */
record PoolMemory(
        String hash,
        Optional<Instant> lastMade,
        Optional<Instant> lacking,
        Optional<Setback> setback,
        List<String> ended,
        Optional<Instant> untold) {

    /** Of a pool that the operator has not looked after yet. */
    static final PoolMemory NONE =
            new PoolMemory("", Optional.empty(), Optional.empty(), Optional.empty(), List.of(), Optional.empty());

    /** After a look at the seats, with what seats are made from now. */
    PoolMemory seen(List<Seat> seats, String hashNow, Instant now) {
        Optional<Setback> former = hash.equals(hashNow) ? setback : Optional.empty();
        List<Seat> failed = seats.stream()
                .filter(Seat::isFailed)
                .filter(seat -> seat.isOf(hashNow))
                .toList();
        Optional<Setback> after = former.filter(known -> known.refused() || !isOver(known, seats, hashNow));
        for (Seat seat : failed) {
            if (!ended.contains(seat.name())) {
                after = Optional.of(joined(after, Setback.of(seat.trouble().orElseThrow(), now)));
            }
        }
        return new PoolMemory(
                hashNow,
                lastMade,
                lacking,
                after,
                failed.stream().map(Seat::name).toList(),
                untold);
    }

    /** With the time since when another seat is wanted, if one is. */
    PoolMemory lacking(boolean isLacking, Instant now) {
        return new PoolMemory(
                hash,
                lastMade,
                isLacking ? lacking.or(() -> Optional.of(now)) : Optional.empty(),
                setback,
                ended,
                untold);
    }

    /** A seat that was made since and is ready shows that seats can start. */
    private static boolean isOver(Setback setback, List<Seat> seats, String hash) {
        return seats.stream()
                .anyMatch(seat ->
                        seat.isReady() && seat.isOf(hash) && !seat.made().isBefore(inSeconds(setback.since())));
    }

    /** Kubernetes' times are whole seconds. */
    private static Instant inSeconds(Instant time) {
        return Instant.ofEpochSecond(time.getEpochSecond());
    }

    private static Setback joined(Optional<Setback> former, Setback next) {
        return former.map(known -> known.then(next)).orElse(next);
    }

    /** After the API server took a seat. */
    PoolMemory made(Instant now) {
        return new PoolMemory(
                hash, Optional.of(now), Optional.empty(), setback.filter(known -> !known.refused()), ended, untold);
    }

    /** After the API server refused a seat. */
    PoolMemory refused(PodRefusal refusal, Instant now) {
        return new PoolMemory(
                hash, lastMade, lacking, Optional.of(joined(setback, Setback.of(refusal, now))), ended, untold);
    }

    /** With the time since when the status is not what it should be. */
    PoolMemory untoldSince(Optional<Instant> since) {
        return new PoolMemory(hash, lastMade, lacking, setback, ended, since);
    }

    /** The setback that the pool's status tells. */
    Optional<Setback> told() {
        return setback.filter(Setback::isTold);
    }

    /** Until when the next seat has to wait for what went before. */
    Stream<Instant> pauses() {
        return Stream.concat(setback.map(Setback::retry).stream(), lastMade.map(at -> at.plus(PoolPlan.PACE)).stream());
    }
}
