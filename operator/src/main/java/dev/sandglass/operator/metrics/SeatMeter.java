package dev.sandglass.operator.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How long seats take until they can be claimed, as {@code sandglass_seat_start_seconds}: from the write that made the pod to
 * the round that saw it ready. Only seats that this process made are measured, and at most {@value #MAX_STARTS} at once.
 */
public final class SeatMeter {

    static final String NAME = "sandglass.seat.start";

    static final int MAX_STARTS = 4096;

    private static final Duration[] BUCKETS = Arrays.stream(
                    new long[] {250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 600_000})
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final Timer timer;
    private final LongSupplier nanoTime;
    private final Map<String, Long> starts = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MAX_STARTS;
        }
    };

    public SeatMeter(MeterRegistry registry, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        timer = Timer.builder(NAME)
                .description("Time from the creation of a seat's pod until a sandbox could claim it")
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }

    /** Notes that the operator makes the pod of a seat. */
    public synchronized void begun(String pod) {
        starts.put(pod, nanoTime.getAsLong());
    }

    /** Notes that a seat can be claimed; the first time counts. */
    public synchronized void ready(String pod) {
        Long begun = starts.remove(pod);
        if (begun != null) {
            timer.record(Duration.ofNanos(nanoTime.getAsLong() - begun));
        }
    }

    /** Notes that a seat ended, or was not made. */
    public synchronized void gone(String pod) {
        starts.remove(pod);
    }
}
