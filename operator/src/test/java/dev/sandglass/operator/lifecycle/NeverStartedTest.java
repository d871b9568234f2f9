package dev.sandglass.operator.lifecycle;

import static dev.sandglass.api.ConditionType.READY;
import static dev.sandglass.api.ConditionType.SUSPENDED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A pod that never ran is not idle, however long that takes; it grows old, and then the cause is told. */
class NeverStartedTest {

    private static final Instant MADE = Instant.parse("2026-03-01T10:00:00Z");
    private static final Instant OLD = MADE.plus(Duration.ofHours(8));
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    /** Digest of a spec that names nothing of what shapes a pod, as in the golden files. */
    private static final String DEFAULTS = "440626df41cfe51d";

    private static final String CAUSE = "The node cannot pull the image kernel:1 (ImagePullBackOff): it is not there";
    private static final String TOLD =
            "The sandbox did not start within its maximum lifetime (" + CAUSE + "); the next use tries again, or: ";

    private static Pod pod(ContainerStatus container) {
        return new PodBuilder()
                .withNewMetadata()
                .withName("sbx-1")
                .withCreationTimestamp(MADE.toString())
                .addToLabels(SandboxLabels.INCARNATION, "1")
                .addToAnnotations(SandboxLabels.POD_SPEC_HASH, DEFAULTS)
                .endMetadata()
                .withNewStatus()
                .withPhase("Pending")
                .withPodIP("10.1.2.3")
                .withContainerStatuses(container)
                .endStatus()
                .build();
    }

    private static Pod withoutImage() {
        return pod(new ContainerStatusBuilder()
                .withName(SandboxContainer.NAME)
                .withImage("kernel:1")
                .withNewState()
                .withNewWaiting()
                .withReason("ImagePullBackOff")
                .withMessage("it is not there")
                .endWaiting()
                .endState()
                .build());
    }

    private static Pod runningSince(Instant start, int restarts) {
        return pod(new ContainerStatusBuilder()
                .withName(SandboxContainer.NAME)
                .withRestartCount(restarts)
                .withNewState()
                .withNewRunning()
                .withStartedAt(start.toString())
                .endRunning()
                .endState()
                .build());
    }

    private static SandboxStatus told() {
        SandboxStatus told = Statuses.ready("False", Reason.IMAGE_PULL_FAILED, CAUSE);
        return new SandboxStatus(1L, told.conditions(), null, "sbx-1", 1, null, null, null, null, null, null);
    }

    private static Observed seen(SandboxStatus status, Optional<Pod> pod, Instant now) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", status);
        sandbox.getMetadata().setGeneration(1L);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        return new Observed(sandbox, pod, Optional.empty(), Optional.empty(), true, now);
    }

    private static Decision decide(Pod pod, Instant now) {
        return Lifecycle.decide(seen(told(), Optional.of(pod), now), DEADLINES);
    }

    /** What is told once the decision to suspend was carried out. */
    private static SandboxStatus suspended(Pod pod) {
        Decision decision = decide(pod, OLD);
        assertThat(decision).isEqualTo(new Decision.Suspend(Reason.MAX_LIFETIME, 1));
        return StatusReport.of(seen(told(), Optional.empty(), OLD), decision, Optional.empty(), DEADLINES);
    }

    private static SandboxStatus asleep(SandboxStatus status) {
        Observed seen = seen(status, Optional.empty(), OLD.plusSeconds(60));
        Decision decision = Lifecycle.decide(seen, DEADLINES);
        assertThat(decision).isInstanceOf(Decision.Sleep.class);
        return StatusReport.of(seen, decision, Optional.empty(), DEADLINES);
    }

    private static String message(SandboxStatus status, ConditionType type) {
        return status.condition(type).orElseThrow().getMessage();
    }

    @Test
    void itIsNotIdle() {
        assertThat(decide(withoutImage(), OLD.minusMillis(1))).isEqualTo(new Decision.Run(1, OLD));
    }

    @Test
    void itIsSuspendedWhenItIsTooOldAndTheCauseIsToldAsLongAsItSleeps() {
        SandboxStatus suspended = suspended(withoutImage());

        assertThat(message(suspended, READY)).startsWith(TOLD);
        assertThat(message(suspended, SUSPENDED)).startsWith(TOLD);
        assertThat(suspended.lost()).isNull();
        assertThat(asleep(suspended)).isEqualTo(suspended);
    }

    @Test
    void norDoesAFailureOfTheOperatorForgetTheCause() {
        SandboxStatus suspended = suspended(withoutImage());
        Observed seen = seen(suspended, Optional.empty(), OLD.plusSeconds(60));

        SandboxStatus failed = suspended.withConditions(Conditions.failed(seen, "why"));

        assertThat(message(failed, READY)).isEqualTo("why");
        assertThat(message(asleep(failed), READY)).isEqualTo(message(suspended, READY));
    }

    @Test
    void itsIdleTimeBeginsWhenItRuns() {
        Instant late = MADE.plus(Duration.ofHours(2));
        Instant idle = late.plus(Duration.ofMinutes(30));
        assertThat(decide(runningSince(late, 0), idle.minusMillis(1))).isEqualTo(new Decision.Run(1, idle));
        assertThat(decide(runningSince(late, 0), idle)).isEqualTo(new Decision.Suspend(Reason.IDLE, 1));
        assertThat(decide(runningSince(late, 1), late))
                .as("a restart is no use")
                .isEqualTo(new Decision.Suspend(Reason.IDLE, 1));
    }

    @Test
    void theNodeMayEndItFirst() {
        Pod ended = withoutImage()
                .edit()
                .editStatus()
                .withPhase("Failed")
                .withReason("DeadlineExceeded")
                .withContainerStatuses()
                .endStatus()
                .build();

        assertThat(message(suspended(ended), READY)).startsWith(TOLD);
    }
}
