package dev.sandglass.operator.metrics;

import dev.sandglass.operator.lifecycle.ColdReason;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * How often sandboxes claimed a seat, and why they did not, as {@code sandglass_sandbox_claims_total}; and how long a claim
 * took. A sandbox in whose namespace there is no pool does not count.
 */
public final class ClaimMeter {

    static final String CLAIMS = "sandglass.sandbox.claims";
    static final String DURATION = "sandglass.claim";

    /** Reason of a hit: a label has to have a value. */
    static final String CLAIMED = "Claimed";

    private static final Duration[] BUCKETS = Arrays.stream(
                    new long[] {1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000})
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final LongSupplier nanoTime;
    private final Counter hits;
    private final Map<ColdReason, Counter> misses = new EnumMap<>(ColdReason.class);
    private final Timer duration;

    ClaimMeter(MeterRegistry registry, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.hits = counter("hit", CLAIMED, registry);
        for (ColdReason reason : ColdReason.values()) {
            misses.put(reason, counter("miss", reason.word(), registry));
        }
        this.duration = Timer.builder(DURATION)
                .description("Time from the choice of a seat until the API server confirmed its claim")
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }

    private static Counter counter(String result, String reason, MeterRegistry registry) {
        return Counter.builder(CLAIMS)
                .description("Starts of sandboxes in namespaces with a SandboxPool, by whether they claimed a seat")
                .tag("result", result)
                .tag("reason", reason)
                .register(registry);
    }

    /** The beginning of a claim, to be handed to {@link #hit(long)}. */
    public long now() {
        return nanoTime.getAsLong();
    }

    /** A seat was claimed. */
    public void hit(long begun) {
        hits.increment();
        duration.record(Duration.ofNanos(now() - begun));
    }

    /** A claim came to light whose answer was lost, so that it is not known how long it took. */
    public void hit() {
        hits.increment();
    }

    /** A sandbox was given a pod of its own. */
    public void miss(ColdReason reason) {
        Objects.requireNonNull(misses.get(reason)).increment();
    }
}
