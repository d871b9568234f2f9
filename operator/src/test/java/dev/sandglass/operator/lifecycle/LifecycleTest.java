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
import dev.sandglass.operator.child.PodRefusal;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The corners of the table; the broad of it is in the golden folders. */
class LifecycleTest {

    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    /** Digest of a spec that names nothing of what shapes a pod, as in the golden files. */
    private static final String DEFAULTS = "440626df41cfe51d";

    private static final PodRefusal FORBIDDEN = new PodRefusal(Reason.IMAGE_FORBIDDEN, "no");

    private static Sandbox sandbox(boolean suspended, SandboxStatus status) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setGeneration(1L);
        sandbox.setSpec(SandboxSpec.DEFAULT.withSuspended(suspended));
        sandbox.setStatus(status);
        return sandbox;
    }

    private static Condition condition(ConditionType type, String status, Reason reason) {
        return new ConditionBuilder()
                .withType(type.value())
                .withStatus(status)
                .withReason(reason.value())
                .withLastTransitionTime(START.toString())
                .build();
    }

    private static SandboxStatus running(int incarnation) {
        return new SandboxStatus(
                1L,
                List.of(condition(READY, "True", Reason.RUNNING)),
                null,
                "pod-" + incarnation,
                incarnation,
                START.toString(),
                null,
                null,
                null,
                null,
                null);
    }

    private static SandboxStatus asleep(Reason cause, int incarnation) {
        return new SandboxStatus(
                1L,
                List.of(condition(SUSPENDED, "True", cause)),
                null,
                null,
                incarnation,
                null,
                START.toString(),
                null,
                null,
                null,
                null);
    }

    private static Pod pod(int incarnation) {
        return new PodBuilder()
                .withNewMetadata()
                .withName("pod-" + incarnation)
                .withCreationTimestamp(START.toString())
                .addToLabels(SandboxLabels.INCARNATION, Integer.toString(incarnation))
                .endMetadata()
                .build();
    }

    private static Pod leaving(int incarnation) {
        return pod(incarnation)
                .edit()
                .editMetadata()
                .withDeletionTimestamp(START.toString())
                .endMetadata()
                .build();
    }

    private static Lease lease(Instant renewed, int seconds) {
        return new LeaseBuilder()
                .withNewSpec()
                .withRenewTime(renewed.atZone(ZoneOffset.UTC))
                .withLeaseDurationSeconds(seconds)
                .endSpec()
                .build();
    }

    private static Observed seen(Sandbox sandbox, Optional<Pod> pod, Optional<Lease> lease, Instant now) {
        return new Observed(sandbox, pod, lease, Optional.empty(), true, now);
    }

    private static Decision decide(Sandbox sandbox, Optional<Pod> pod, Instant now) {
        return Lifecycle.decide(seen(sandbox, pod, Optional.empty(), now), DEADLINES);
    }

    @Test
    void aPodOlderThanTheRecordedOneDoesNotCount() {
        assertThat(decide(sandbox(false, running(3)), Optional.of(pod(2)), START))
                .isEqualTo(new Decision.Replace(3, 4, Optional.empty()));
    }

    @Test
    void aResumeThatWasCutOffGoesOnWithThePodThatWasMade() {
        assertThat(decide(sandbox(false, asleep(Reason.REQUESTED, 2)), Optional.of(pod(3)), START))
                .isEqualTo(new Decision.Resume(2, 3));
    }

    @Test
    void aResumeDoesNotTakeTheOldPodThatIsStillInTheCacheForTheNewOne() {
        assertThat(decide(sandbox(false, asleep(Reason.REQUESTED, 2)), Optional.of(pod(2)), START))
                .isEqualTo(new Decision.Resume(2, 3));
    }

    @Test
    void aPodThatLivesWhileItsSandboxSleepsIsEnded() {
        assertThat(decide(sandbox(false, asleep(Reason.IDLE, 1)), Optional.of(pod(2)), START))
                .isEqualTo(new Decision.Suspend(Reason.IDLE, 2));
        assertThat(decide(sandbox(true, asleep(Reason.REQUESTED, 1)), Optional.of(leaving(1)), START))
                .isInstanceOf(Decision.Sleep.class);
    }

    @Test
    void whoSuspendsAnIdleSandboxMeansItToStaySo() {
        assertThat(decide(sandbox(true, asleep(Reason.IDLE, 1)), Optional.empty(), START))
                .isEqualTo(new Decision.Suspend(Reason.REQUESTED, 1));
    }

    @Test
    void aLeaseRenewedAtTheVeryMomentOfTheSuspendDoesNotResume() {
        Sandbox sandbox = sandbox(false, asleep(Reason.IDLE, 1));
        Instant now = START.plusSeconds(60);
        assertThat(Lifecycle.decide(seen(sandbox, Optional.empty(), Optional.of(lease(START, 0)), now), DEADLINES))
                .isInstanceOf(Decision.Sleep.class);
        assertThat(Lifecycle.decide(
                        seen(sandbox, Optional.empty(), Optional.of(lease(START.plusMillis(1), 0)), now), DEADLINES))
                .isEqualTo(new Decision.Resume(1, 2));
    }

    @Test
    void aPodThatReachedItsMaximumAgeSuspendsAndUseResumes() {
        Instant old = START.plus(Duration.ofHours(8));
        Lease busy = lease(old.minusSeconds(1), 3600);
        assertThat(Lifecycle.decide(
                        seen(sandbox(false, running(1)), Optional.of(pod(1)), Optional.of(busy), old), DEADLINES))
                .isEqualTo(new Decision.Suspend(Reason.MAX_LIFETIME, 1));
        assertThat(Lifecycle.decide(
                        seen(
                                sandbox(false, asleep(Reason.MAX_LIFETIME, 1)),
                                Optional.empty(),
                                Optional.of(lease(old, 0)),
                                old),
                        DEADLINES))
                .isEqualTo(new Decision.Resume(1, 2));
    }

    @Test
    void aDeadlineIsReachedAtItsInstantAndNotBefore() {
        Instant idle = START.plus(Duration.ofMinutes(30));
        Sandbox sandbox = sandbox(false, running(1));
        assertThat(decide(sandbox, Optional.of(pod(1)), idle.minusMillis(1))).isEqualTo(new Decision.Run(1, idle));
        assertThat(decide(sandbox, Optional.of(pod(1)), idle)).isEqualTo(new Decision.Suspend(Reason.IDLE, 1));
        Instant end = START.plus(Duration.ofHours(24));
        Sandbox asleep = sandbox(true, asleep(Reason.REQUESTED, 1));
        assertThat(decide(asleep, Optional.empty(), end.minusMillis(1))).isEqualTo(new Decision.Sleep(end));
        assertThat(decide(asleep, Optional.empty(), end)).isEqualTo(new Decision.Delete());
    }

    @Test
    void useBeforeThePodsStartDoesNotShortenItsIdleTime() {
        Lease before = lease(START.minus(Duration.ofHours(1)), 60);
        assertThat(Lifecycle.decide(
                        seen(
                                sandbox(false, running(1)),
                                Optional.of(pod(1)),
                                Optional.of(before),
                                START.plus(Duration.ofMinutes(29))),
                        DEADLINES))
                .isEqualTo(new Decision.Run(1, START.plus(Duration.ofMinutes(30))));
    }

    @Test
    void aLeaseThatSaysNothingIsNoActivity() {
        Lease empty = new LeaseBuilder().build();
        assertThat(Lifecycle.decide(
                        seen(sandbox(false, running(1)), Optional.of(pod(1)), Optional.of(empty), START), DEADLINES))
                .isEqualTo(new Decision.Run(1, START.plus(Duration.ofMinutes(30))));
    }

    @Test
    void whatIsRefusedIsNeitherStartedNorReplacedButARunningPodStays() {
        Optional<PodRefusal> refused = Optional.of(FORBIDDEN);
        assertThat(Lifecycle.decide(
                        new Observed(
                                sandbox(false, SandboxStatus.UNSEEN),
                                Optional.empty(),
                                Optional.empty(),
                                refused,
                                false,
                                START),
                        DEADLINES))
                .isEqualTo(new Decision.Wait(Optional.empty()));
        assertThat(Lifecycle.decide(
                        new Observed(
                                sandbox(false, running(1)),
                                Optional.of(leaving(1)),
                                Optional.empty(),
                                refused,
                                true,
                                START),
                        DEADLINES))
                .isEqualTo(new Decision.Wait(Optional.empty()));
        assertThat(Lifecycle.decide(
                        new Observed(
                                sandbox(false, running(1)),
                                Optional.of(pod(1)),
                                Optional.empty(),
                                refused,
                                true,
                                START),
                        DEADLINES))
                .isInstanceOf(Decision.Run.class);
    }

    @Test
    void aSleepingSandboxWhoseImageWasForbiddenKeepsSleeping() {
        Observed seen = new Observed(
                sandbox(false, asleep(Reason.IDLE, 1)),
                Optional.empty(),
                Optional.empty(),
                Optional.of(FORBIDDEN),
                true,
                START.plusSeconds(1));
        Decision decision = Lifecycle.decide(seen, DEADLINES);
        assertThat(decision).isInstanceOf(Decision.Sleep.class);
        assertThat(StatusReport.of(seen, decision, Optional.empty(), DEADLINES).reason(SUSPENDED))
                .contains(Reason.IDLE);
    }

    @Test
    void labelsThatSomebodyTamperedWithAreNotNumbers() {
        for (String label : new String[] {"", "0", "-1", "1x", "99999999999"}) {
            Pod pod = pod(1).edit()
                    .editMetadata()
                    .addToLabels(SandboxLabels.INCARNATION, label)
                    .endMetadata()
                    .build();
            assertThat(Observed.incarnationOf(pod)).isZero();
        }
    }

    @Test
    void aFailureIsToldWithoutForgettingTheRest() {
        Observed seen = seen(sandbox(false, asleep(Reason.IDLE, 1)), Optional.empty(), Optional.empty(), START);
        SandboxStatus failed = seen.status().withConditions(Conditions.failed(seen, "why"));
        assertThat(failed.reason(READY)).contains(Reason.OPERATOR_ERROR);
        assertThat(failed.condition(READY).orElseThrow().getStatus()).isEqualTo("Unknown");
        assertThat(failed.holds(SUSPENDED)).isTrue();
    }

    @Test
    void aMessageThatTheSchemaWouldRefuseIsCut() {
        Observed seen = seen(sandbox(false, asleep(Reason.IDLE, 1)), Optional.empty(), Optional.empty(), START);
        String most = "x".repeat(ConditionType.MAX_MESSAGE);
        assertThat(messageOf(seen, most)).isEqualTo(most);
        assertThat(messageOf(seen, most + "x"))
                .hasSize(ConditionType.MAX_MESSAGE)
                .endsWith("x…");
        // A character of two halves stands where the cut is.
        assertThat(messageOf(seen, "x".repeat(ConditionType.MAX_MESSAGE - 2) + "😀😀"))
                .endsWith("x…");
    }

    private static String messageOf(Observed seen, String told) {
        SandboxStatus failed = seen.status().withConditions(Conditions.failed(seen, told));
        return failed.condition(READY).orElseThrow().getMessage();
    }

    @Test
    void aSandboxThatIsDeletedEndsItsPodWhateverElseIsSaidOfIt() {
        for (boolean suspended : new boolean[] {true, false}) {
            Sandbox held = sandbox(suspended, running(1));
            held.getMetadata().setDeletionTimestamp(START.toString());
            held.getMetadata().setFinalizers(List.of("example.com/hold"));
            var refused =
                    new Observed(held, Optional.of(pod(1)), Optional.empty(), Optional.of(FORBIDDEN), false, START);

            assertThat(Lifecycle.decide(refused, DEADLINES)).isEqualTo(new Decision.Suspend(Reason.REQUESTED, 1));
            assertThat(decide(held, Optional.of(leaving(1)), START)).isEqualTo(new Decision.Leave());
            assertThat(decide(held, Optional.empty(), START)).isEqualTo(new Decision.Leave());
        }
    }

    /** If code had its image blamed after all, its pod would still become idle. */
    @Test
    void aUseCountsMoreThanWhatAPodSaysOfItself() {
        Pod blamed = pod(1).edit()
                .editMetadata()
                .addToAnnotations(SandboxLabels.POD_SPEC_HASH, DEFAULTS)
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("sandbox")
                .withTerminationMessagePath("/root/termination-log")
                .endContainer()
                .endSpec()
                .withNewStatus()
                .addNewContainerStatus()
                .withName("sandbox")
                .withNewState()
                .withNewTerminated()
                .withReason("Error")
                .withExitCode(255)
                .withMessage("exec /usr/bin/python3: exec format error")
                .endTerminated()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
        Instant late = START.plus(DEADLINES.idleTimeout()).plusSeconds(60);
        Sandbox sandbox = sandbox(false, running(1));
        Lease used = lease(START.plusSeconds(30), 0);
        Instant idle = START.plusSeconds(30).plus(DEADLINES.idleTimeout());

        assertThat(Lifecycle.decide(seen(sandbox, Optional.of(blamed), Optional.of(used), late), DEADLINES))
                .isEqualTo(new Decision.Suspend(Reason.IDLE, 1));
        assertThat(Lifecycle.decide(seen(sandbox, Optional.of(blamed), Optional.of(used), START), DEADLINES))
                .isEqualTo(new Decision.Run(1, idle));
        assertThat(decide(sandbox, Optional.of(blamed), late))
                .as("an image that never was a sandbox")
                .isInstanceOf(Decision.Run.class);
    }
}
