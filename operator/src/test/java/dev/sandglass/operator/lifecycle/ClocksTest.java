package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The gateway writes when a sandbox was used by another clock than the one that the operator reads. */
class ClocksTest {

    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Duration IDLE = Duration.ofMinutes(30);
    private static final Deadlines DEADLINES = new Deadlines(IDLE, Duration.ofHours(8), Duration.ofHours(24));

    /** When the pod is too old, by the operator's clock. */
    private static final Instant OLD = START.plus(Duration.ofHours(8)).plusNanos(123_456_789);

    private static Sandbox sandbox(SandboxStatus status) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setGeneration(1L);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        sandbox.setStatus(status);
        return sandbox;
    }

    private static Pod pod() {
        return new PodBuilder()
                .withNewMetadata()
                .withName("pod-1")
                .withCreationTimestamp(START.toString())
                .addToLabels(SandboxLabels.INCARNATION, "1")
                .endMetadata()
                .build();
    }

    private static Lease used(Instant at) {
        return new LeaseBuilder()
                .withNewSpec()
                .withRenewTime(at.atZone(ZoneOffset.UTC))
                .withLeaseDurationSeconds(1)
                .endSpec()
                .build();
    }

    private static Observed seen(SandboxStatus status, Optional<Pod> pod, Instant used, Instant now) {
        return new Observed(sandbox(status), pod, Optional.of(used(used)), Optional.empty(), true, now);
    }

    /** What is told of a pod that grew too old right after it was used, by a clock that differs so much. */
    private static SandboxStatus suspended(Instant used) {
        Observed old = seen(SandboxStatus.UNSEEN, Optional.of(pod()), used, OLD);
        Decision decision = Lifecycle.decide(old, DEADLINES);
        assertThat(decision).isEqualTo(new Decision.Suspend(Reason.MAX_LIFETIME, 1));
        return StatusReport.of(
                old.after(Optional.empty(), Optional.empty(), true), decision, Optional.empty(), DEADLINES);
    }

    /** In microseconds, of which a millisecond has a thousand: a sleep begins with one, a use is written to the other. */
    @ParameterizedTest
    @ValueSource(longs = {-60_000_000, -1_000, -1, 0, 1, 999, 1_000, 1_001, 60_000_000, 3_600_000_000L})
    void aUseThatWasKnownEndsNoSleepAndALaterOneDoes(long micros) {
        Instant used = OLD.plusNanos(micros * 1000);

        SandboxStatus status = suspended(used);

        for (Instant now : new Instant[] {OLD, OLD.plusSeconds(59), used.plusSeconds(1)}) {
            assertThat(Lifecycle.decide(seen(status, Optional.empty(), used, now), DEADLINES))
                    .isInstanceOf(Decision.Sleep.class);
        }
        Instant wish = Instant.parse(status.suspendedAt()).plusMillis(1);
        assertThat(Lifecycle.decide(seen(status, Optional.empty(), wish, OLD), DEADLINES))
                .isEqualTo(new Decision.Resume(1, 2));
    }

    @Test
    void aSleepBeginsNowIfNoUseSaysOtherwise() {
        assertThat(suspended(START).suspendedAt()).isEqualTo("2026-03-01T18:00:00.123Z");
        assertThat(suspended(OLD.plusNanos(1000)).suspendedAt()).isEqualTo("2026-03-01T18:00:00.124Z");
        assertThat(suspended(OLD.plusSeconds(60)).suspendedAt()).isEqualTo("2026-03-01T18:01:00.124Z");
    }

    /** Neither is a sandbox that nobody uses kept awake for longer than the clocks differ. */
    @ParameterizedTest
    @ValueSource(longs = {0, 60, 3600})
    void aUseInTheFutureIsBeforeThatFuture(long ahead) {
        Instant used = START.plusSeconds(60 + ahead);
        Instant idle = used.plusSeconds(1).plus(IDLE);

        assertThat(DEADLINES.due(pod(), Optional.of(used(used)), idle.minusMillis(1)))
                .isEmpty();
        assertThat(DEADLINES.due(pod(), Optional.of(used(used)), idle)).contains(Reason.IDLE);
    }
}
