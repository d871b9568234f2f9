package dev.sandglass.operator.metrics;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.lifecycle.Observed;
import io.fabric8.kubernetes.api.model.Pod;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How long the starts of pods take, phase by phase, as {@code sandglass_start_seconds}. The clock is the operator's, and
 * a moment is that at which it learned of something: Kubernetes' own times are whole seconds. Only starts that this
 * process began are measured, from the round that made the pod or claimed it, and at most {@link #MAX_STARTS} at once. Warm and
 * cold starts are measured apart.
 */
public final class StartMeter {

    static final String NAME = "sandglass.start";

    static final int MAX_STARTS = 4096;

    private static final Duration[] BUCKETS = Arrays.stream(
                    new long[] {5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000})
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    /** What a start goes through; {@link #TOTAL} is all of it. */
    enum Phase {
        POD,
        SCHEDULED,
        RUNNING,
        READY,
        TOTAL
    }

    private final LongSupplier nanoTime;
    private final Map<Phase, Timer> cold;
    private final Map<Phase, Timer> warm;
    private final Map<String, Start> starts = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Start> eldest) {
            return size() > MAX_STARTS;
        }
    };

    /** A start under way: its pod's number, and when it began and was seen to move on, in nanoseconds. */
    private record Start(int incarnation, long begun, long latest, boolean scheduled, boolean warm) {

        Start at(long now, boolean scheduledNow) {
            return new Start(incarnation, begun, now, scheduledNow, warm);
        }
    }

    StartMeter(MeterRegistry registry, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.cold = timers("cold", registry);
        this.warm = timers("warm", registry);
    }

    private static Map<Phase, Timer> timers(String start, MeterRegistry registry) {
        Map<Phase, Timer> timers = new EnumMap<>(Phase.class);
        for (Phase phase : Phase.values()) {
            timers.put(
                    phase,
                    Timer.builder(NAME)
                            .description("Time that a phase of a pod's start took")
                            .tag("phase", phase.name().toLowerCase(Locale.ROOT))
                            .tag("start", start)
                            .serviceLevelObjectives(BUCKETS)
                            .register(registry));
        }
        return timers;
    }

    /** The beginning of a round, to be handed to {@link #acted}. */
    public long now() {
        return nanoTime.getAsLong();
    }

    /**
     * Notes what a round found and did, before it publishes the status.
     *
     * @param begun when the round began
     * @param status what it is about to tell
     */
    public synchronized void acted(long begun, Observed seen, Observed after, SandboxStatus status) {
        String uid = after.sandbox().getMetadata().getUid();
        Optional<Pod> pod = after.livePod();
        if (pod.isEmpty()) {
            starts.remove(uid);
            return;
        }
        long now = now();
        int incarnation = Observed.incarnationOf(pod.get());
        if (seen.livePod()
                .filter(former -> Observed.incarnationOf(former) == incarnation)
                .isEmpty()) {
            Start start = new Start(incarnation, begun, now, false, status.seat() != null);
            record(start, Phase.POD, now - begun);
            starts.put(uid, start);
        } else {
            starts.computeIfPresent(uid, (key, start) -> moved(start, incarnation, pod.get(), status, now));
        }
    }

    private @Nullable Start moved(Start start, int incarnation, Pod pod, SandboxStatus status, long now) {
        if (start.incarnation() != incarnation) {
            return null;
        }
        boolean runs = status.holds(ConditionType.READY);
        if (runs && start.scheduled()) {
            record(start, Phase.RUNNING, now - start.latest());
        } else if (!runs && !start.scheduled() && pod.getSpec().getNodeName() != null) {
            record(start, Phase.SCHEDULED, now - start.latest());
            return start.at(now, true);
        }
        // Scheduled and running seen in one go: the parts are unknown, only the total is known.
        return runs ? start.at(now, true) : start;
    }

    /** Notes that a status was published; the start is over if it says that the sandbox is ready. */
    public synchronized void told(Sandbox sandbox, SandboxStatus status) {
        if (!status.holds(ConditionType.READY)) {
            return;
        }
        Start start = starts.remove(sandbox.getMetadata().getUid());
        if (start != null) {
            long now = now();
            record(start, Phase.READY, now - start.latest());
            record(start, Phase.TOTAL, now - start.begun());
        }
    }

    private void record(Start start, Phase phase, long nanos) {
        Map<Phase, Timer> timers = start.warm() ? warm : cold;
        Objects.requireNonNull(timers.get(phase)).record(Duration.ofNanos(nanos));
    }
}
