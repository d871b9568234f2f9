package dev.sandglass.operator.metrics;

import static dev.sandglass.operator.cluster.Statuses.ready;
import static dev.sandglass.operator.cluster.Statuses.sandbox;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.lifecycle.Observed;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StartMeterTest {

    private static final SandboxStatus STARTING = ready("False", Reason.STARTING, "");
    private static final SandboxStatus RUNNING = ready("True", Reason.RUNNING, "");

    private final AtomicLong time = new AtomicLong();
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final StartMeter meter = new StartMeter(registry, time::get);
    private final Sandbox sandbox = sandbox("a", "demo", SandboxStatus.UNSEEN);

    private static Pod pod(int incarnation, @Nullable String node) {
        return new PodBuilder()
                .withNewMetadata()
                .addToLabels(SandboxLabels.INCARNATION, Integer.toString(incarnation))
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .endSpec()
                .build();
    }

    private Observed seen(@Nullable Pod pod) {
        return new Observed(sandbox, Optional.ofNullable(pod), Optional.empty(), Optional.empty(), true, Instant.EPOCH);
    }

    /** A round that takes 10 ms to act and as much to tell. */
    private void round(@Nullable Pod before, @Nullable Pod after, SandboxStatus status) {
        long begun = meter.now();
        pass(10);
        meter.acted(begun, seen(before), seen(after), status);
        pass(10);
        meter.told(sandbox, status);
    }

    private void pass(long millis) {
        time.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    private Timer timer(String phase) {
        return registry.get(StartMeter.NAME)
                .tag("phase", phase)
                .tag("start", "cold")
                .timer();
    }

    private double millis(String phase) {
        return timer(phase).totalTime(TimeUnit.MILLISECONDS);
    }

    @Test
    void everyPhaseIsMeasuredOnceAndTheirSumIsTheTotal() {
        round(null, pod(1, null), STARTING);
        pass(100);
        round(pod(1, "node"), pod(1, "node"), STARTING);
        round(pod(1, "node"), pod(1, "node"), STARTING);
        pass(300);
        round(pod(1, "node"), pod(1, "node"), RUNNING);
        round(pod(1, "node"), pod(1, "node"), RUNNING);

        assertThat(millis("pod")).isEqualTo(10);
        assertThat(millis("scheduled")).isEqualTo(120);
        assertThat(millis("running")).isEqualTo(340);
        assertThat(millis("ready")).isEqualTo(10);
        assertThat(millis("total")).isEqualTo(480);
        assertThat(timer("total").count()).isEqualTo(1);
        assertThat(registry.scrape())
                .contains("sandglass_start_seconds_bucket{phase=\"total\",start=\"cold\",le=\"0.5\"} 1")
                .contains("sandglass_start_seconds_bucket{phase=\"total\",start=\"cold\",le=\"0.25\"} 0");
    }

    @Test
    void scheduledAndRunningInOneGoLeaveOnlyTheTotal() {
        round(null, pod(1, null), STARTING);
        pass(200);
        round(pod(1, "node"), pod(1, "node"), RUNNING);

        assertThat(timer("scheduled").count()).isZero();
        assertThat(timer("running").count()).isZero();
        assertThat(millis("ready")).isEqualTo(10);
        assertThat(millis("total")).isEqualTo(240);
    }

    /** Both in one histogram would say nothing of either. */
    @Test
    void aWarmStartIsMeasuredApart() {
        SandboxStatus warm = new SandboxStatus(
                1L, RUNNING.conditions(), null, null, 1, null, null, null, null, null, null, "seat", "Warm: pool a");
        round(null, pod(1, "node"), warm);

        assertThat(timer("total").count()).isZero();
        assertThat(registry.get(StartMeter.NAME)
                        .tag("phase", "total")
                        .tag("start", "warm")
                        .timer()
                        .totalTime(TimeUnit.MILLISECONDS))
                .isEqualTo(20);
    }

    @Test
    void aPodThatWasThereBeforeIsNotMeasured() {
        round(pod(1, "node"), pod(1, "node"), STARTING);
        round(pod(1, "node"), pod(1, "node"), RUNNING);

        assertThat(timer("total").count()).isZero();
    }

    @Test
    void aReplacedOrSuspendedStartIsForgotten() {
        round(null, pod(1, null), STARTING);
        round(pod(1, "node"), pod(2, null), STARTING);
        round(pod(2, "node"), null, STARTING);
        round(pod(2, "node"), pod(2, "node"), RUNNING);

        assertThat(timer("pod").count()).isEqualTo(2);
        assertThat(timer("total").count()).isZero();
    }

    @Test
    void startsBeyondTheBoundPushOutTheOldest() {
        round(null, pod(1, null), STARTING);
        for (int i = 0; i < StartMeter.MAX_STARTS; i++) {
            Observed before = other(i, null);
            meter.acted(meter.now(), before, other(i, pod(1, null)), STARTING);
        }

        round(pod(1, "node"), pod(1, "node"), RUNNING);
        assertThat(timer("total").count()).isZero();

        meter.told(sandbox("a", "other-0", SandboxStatus.UNSEEN), RUNNING);
        assertThat(timer("total").count()).isEqualTo(1);
    }

    private static Observed other(int number, @Nullable Pod pod) {
        return new Observed(
                sandbox("a", "other-" + number, SandboxStatus.UNSEEN),
                Optional.ofNullable(pod),
                Optional.empty(),
                Optional.empty(),
                true,
                Instant.EPOCH);
    }
}
