package dev.sandglass.operator.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How many seats the pools have and want, and how old they are, as {@code sandglass_pool_seats}, {@code sandglass_pool_wanted}
 * and {@code sandglass_seat_age_seconds}. Only the replica that leads has something to count. At most {@value #MAX_POOLS}
 * pools are measured at once, the first that were seen: tenants make as many as they like, and each change writes all rows.
 */
public final class PoolCensus {

    static final int MAX_POOLS = 256;

    static final String SEATS = "sandglass.pool.seats";
    static final String WANTED = "sandglass.pool.wanted";
    static final String AGE = "sandglass.seat.age";

    private final MultiGauge seats;
    private final MultiGauge wanted;
    private final MultiGauge age;
    private final InstantSource clock;
    private final Map<Pool, Count> pools = new HashMap<>();

    /** Which pool. */
    public record Pool(String namespace, String name) {}

    /**
     * What a pool has.
     *
     * @param wanted seats that its spec wants
     * @param ready seats that can be claimed
     * @param starting seats that cannot yet; those that never will count neither here nor there
     * @param oldest when the oldest seat that no sandbox has claimed was made; empty if there is none
     */
    public record Count(int wanted, int ready, int starting, Optional<Instant> oldest) {}

    public PoolCensus(MeterRegistry registry, InstantSource clock) {
        this.clock = clock;
        seats = MultiGauge.builder(SEATS)
                .description("Seats of a pool that no sandbox has claimed, by whether they can be claimed")
                .register(registry);
        wanted = MultiGauge.builder(WANTED)
                .description("Seats that a pool wants")
                .register(registry);
        age = MultiGauge.builder(AGE)
                .description("Age of the oldest unclaimed seat of a pool")
                .baseUnit("seconds")
                .register(registry);
    }

    /** Notes what a pool has now. */
    public synchronized void saw(Pool pool, Count count) {
        boolean measured = pools.containsKey(pool) || pools.size() < MAX_POOLS;
        if (measured && !count.equals(pools.put(pool, count))) {
            publish();
        }
    }

    /** Notes that a pool is gone. */
    public synchronized void gone(Pool pool) {
        if (pools.remove(pool) != null) {
            publish();
        }
    }

    private void publish() {
        List<MultiGauge.Row<?>> ofSeats = new ArrayList<>();
        List<MultiGauge.Row<?>> ofWanted = new ArrayList<>();
        List<MultiGauge.Row<?>> ofAge = new ArrayList<>();
        pools.forEach((pool, count) -> {
            Tags tags = Tags.of("sandbox.namespace", pool.namespace(), "pool", pool.name());
            ofSeats.add(MultiGauge.Row.of(tags.and("state", "ready"), count.ready()));
            ofSeats.add(MultiGauge.Row.of(tags.and("state", "starting"), count.starting()));
            ofWanted.add(MultiGauge.Row.of(tags, count.wanted()));
            ofAge.add(MultiGauge.Row.of(tags, () -> ageOf(count)));
        });
        seats.register(ofSeats, true);
        wanted.register(ofWanted, true);
        age.register(ofAge, true);
    }

    private double ageOf(Count count) {
        return count.oldest()
                .map(made -> Duration.between(made, clock.instant()).toMillis() / 1000.0)
                .orElse(0.0);
    }
}
