package dev.sandglass.operator.pool;

import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.metrics.PoolCensus;
import dev.sandglass.operator.metrics.SandboxMeters;
import dev.sandglass.operator.metrics.SeatMeter;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Comparator;
import java.util.List;

/**
 * What is measured of pools.
 *
 * @param meters where failed rounds count
 */
public record PoolMeters(PoolCensus census, SeatMeter starts, SandboxMeters meters) {

    void begun(Pod seat) {
        starts.begun(seat.getMetadata().getName());
    }

    void notMade(Pod seat) {
        starts.gone(seat.getMetadata().getName());
    }

    void ended(Seat seat) {
        starts.gone(seat.name());
    }

    void saw(PoolView seen) {
        List<Seat> counted = seen.seats().stream().filter(Seat::counts).toList();
        // The others cannot be claimed.
        List<Seat> updated =
                counted.stream().filter(seat -> seat.isOf(seen.hash())).toList();
        int ready = (int) updated.stream().filter(Seat::isReady).count();
        counted.stream().filter(Seat::isReady).map(Seat::name).forEach(starts::ready);
        census.saw(
                poolOf(seen.pool()),
                new PoolCensus.Count(
                        seen.pool().wanted().replicas(),
                        ready,
                        updated.size() - ready,
                        counted.stream().map(Seat::made).min(Comparator.naturalOrder())));
    }

    void gone(SandboxPool pool) {
        census.gone(poolOf(pool));
    }

    void failed() {
        meters.failed();
    }

    private static PoolCensus.Pool poolOf(SandboxPool pool) {
        return new PoolCensus.Pool(
                pool.getMetadata().getNamespace(), pool.getMetadata().getName());
    }
}
