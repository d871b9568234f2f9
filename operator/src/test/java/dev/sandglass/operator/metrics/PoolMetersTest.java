package dev.sandglass.operator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What is measured of pools: how many seats, how old, how long they took. */
class PoolMetersTest {

    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

    private final MeterRegistry registry = new SimpleMeterRegistry();

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }

    @Test
    void seatsAreCountedByPoolUntilItIsGone() {
        PoolCensus census = new PoolCensus(registry, () -> NOW);
        PoolCensus.Pool pool = new PoolCensus.Pool("tenant-a", "warm");
        PoolCensus.Pool other = new PoolCensus.Pool("tenant-b", "warm");

        census.saw(pool, new PoolCensus.Count(3, 1, 1, Optional.of(NOW.minusSeconds(90))));
        census.saw(other, new PoolCensus.Count(1, 0, 0, Optional.empty()));

        String[] place = {"sandbox.namespace", "tenant-a", "pool", "warm"};
        assertThat(gauge(PoolCensus.WANTED, place)).isEqualTo(3);
        assertThat(gauge(PoolCensus.AGE, place)).isEqualTo(90);
        assertThat(gauge(PoolCensus.SEATS, "sandbox.namespace", "tenant-a", "state", "ready"))
                .isEqualTo(1);
        assertThat(gauge(PoolCensus.SEATS, "sandbox.namespace", "tenant-a", "state", "starting"))
                .isEqualTo(1);
        assertThat(gauge(PoolCensus.AGE, "sandbox.namespace", "tenant-b")).isZero();

        census.saw(pool, new PoolCensus.Count(3, 2, 0, Optional.of(NOW.minusSeconds(90))));
        assertThat(gauge(PoolCensus.SEATS, "sandbox.namespace", "tenant-a", "state", "ready"))
                .isEqualTo(2);

        census.gone(pool);
        assertThat(registry.find(PoolCensus.WANTED).gauges()).hasSize(1);
        census.gone(other);
        assertThat(registry.find(PoolCensus.SEATS).gauges()).isEmpty();
    }

    /** The names are the tenants', and each change writes all rows: without a bound many pools hold up the operator. */
    @Test
    void soManyPoolsAreMeasuredAndNoMore() {
        PoolCensus census = new PoolCensus(registry, () -> NOW);
        var count = new PoolCensus.Count(1, 1, 0, Optional.empty());
        for (int pool = 0; pool <= PoolCensus.MAX_POOLS; pool++) {
            census.saw(new PoolCensus.Pool("tenant-a", "pool-" + pool), count);
        }
        assertThat(registry.find(PoolCensus.WANTED).gauges()).hasSize(PoolCensus.MAX_POOLS);
        String last = "pool-" + (PoolCensus.MAX_POOLS - 1);
        assertThat(gauge(PoolCensus.WANTED, "pool", last)).isEqualTo(1);

        // Those that are measured go on, and leave their place.
        var more = new PoolCensus.Count(2, 1, 1, Optional.empty());
        census.saw(new PoolCensus.Pool("tenant-a", last), more);
        assertThat(gauge(PoolCensus.WANTED, "pool", last)).isEqualTo(2);
        census.gone(new PoolCensus.Pool("tenant-a", last));
        census.saw(new PoolCensus.Pool("tenant-b", "warm"), more);
        assertThat(gauge(PoolCensus.WANTED, "pool", "warm")).isEqualTo(2);
        assertThat(registry.find(PoolCensus.WANTED).gauges()).hasSize(PoolCensus.MAX_POOLS);
    }

    @Test
    void aStartIsMeasuredOnceAndOnlyIfItWasSeenToBegin() {
        AtomicLong nanos = new AtomicLong();
        SeatMeter meter = new SeatMeter(registry, nanos::get);
        meter.begun("one");
        meter.begun("two");
        nanos.set(TimeUnit.SECONDS.toNanos(2));
        meter.gone("two");
        meter.ready("one");
        meter.ready("one");
        meter.ready("two");
        meter.ready("of an earlier process");
        assertThat(registry.get(SeatMeter.NAME).timer().count()).isEqualTo(1);
        assertThat(registry.get(SeatMeter.NAME).timer().totalTime(TimeUnit.SECONDS))
                .isEqualTo(2);
    }

    @Test
    void startsUnderWayAreBounded() {
        SeatMeter meter = new SeatMeter(registry, () -> 0);
        for (int seat = 0; seat <= SeatMeter.MAX_STARTS; seat++) {
            meter.begun("seat-" + seat);
        }
        meter.ready("seat-0");
        meter.ready("seat-1");
        assertThat(registry.get(SeatMeter.NAME).timer().count()).isEqualTo(1);
    }
}
