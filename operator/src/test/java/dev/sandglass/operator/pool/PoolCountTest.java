package dev.sandglass.operator.pool;

import static dev.sandglass.operator.pool.Pools.NOW;
import static dev.sandglass.operator.pool.Pools.outdated;
import static dev.sandglass.operator.pool.Pools.ready;
import static dev.sandglass.operator.pool.Pools.starting;
import static dev.sandglass.operator.pool.Pools.view;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.operator.metrics.PoolCensus;
import dev.sandglass.operator.metrics.SandboxMeters;
import dev.sandglass.operator.metrics.SeatMeter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What the metrics of a pool count, so that alerts tell of a pool that gives no seats. */
class PoolCountTest {

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final PoolMeters meters = new PoolMeters(
            new PoolCensus(registry, () -> NOW),
            new SeatMeter(registry, System::nanoTime),
            new SandboxMeters(registry, Set.of()));

    private double seats(String state) {
        return registry.get("sandglass.pool.seats").tag("state", state).gauge().value();
    }

    @Test
    void onlySeatsThatASandboxCanClaimAreReady() {
        meters.saw(view(
                4,
                outdated(ready(1, Duration.ofHours(1))),
                outdated(ready(2, Duration.ofHours(1))),
                outdated(starting(3, Duration.ofSeconds(5))),
                ready(4, Duration.ofMinutes(1)),
                starting(5, Duration.ofSeconds(5))));
        assertThat(seats("ready")).isEqualTo(1);
        assertThat(seats("starting")).isEqualTo(1);

        meters.saw(view(1, outdated(ready(1, Duration.ofHours(1)))));
        assertThat(seats("ready")).isZero();
        assertThat(registry.get("sandglass.seat.age").gauge().value())
                .as("it is there all the same")
                .isEqualTo(3600);
    }
}
