package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is lost, why, and until when it has to be told. */
class LossTest {

    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    /** Of a sandbox whose first pod is the recorded one. */
    private static SandboxStatus status(Reason ready, @Nullable String startedAt, @Nullable String lost) {
        return new SandboxStatus(
                1L,
                Statuses.ready(ready == Reason.RUNNING ? "True" : "False", ready, "told before")
                        .conditions(),
                null,
                "pod-1",
                1,
                startedAt,
                null,
                null,
                null,
                null,
                lost);
    }

    private static SandboxStatus ran(Reason ready) {
        return status(ready, START.toString(), null);
    }

    private static Observed seen(SandboxStatus status, Optional<Pod> pod) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", status);
        sandbox.getMetadata().setGeneration(1L);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        return new Observed(sandbox, pod, Optional.empty(), Optional.empty(), true, START.plusSeconds(1));
    }

    private static Pod pod(int incarnation, @Nullable String replaced) {
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withName("pod-" + incarnation)
                .withCreationTimestamp(START.toString())
                .addToLabels(SandboxLabels.INCARNATION, Integer.toString(incarnation))
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("sandbox")
                .withTerminationMessagePath("/root/termination-log")
                .endContainer()
                .endSpec()
                .withNewStatus()
                .withPhase("Pending")
                .endStatus()
                .build();
        return replaced == null ? pod : SandboxContainer.after(pod, replaced);
    }

    private static Pod running(Pod pod) {
        return pod.edit()
                .editStatus()
                .withPhase("Running")
                .withPodIP("10.1.2.3")
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withReady(true)
                .withRestartCount(0)
                .withNewState()
                .withNewRunning()
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    private static Decision.Replace replaced(@Nullable Reason cause) {
        return new Decision.Replace(
                1, 2, Optional.ofNullable(cause).map(reason -> new Decision.Cause(reason, "its words")));
    }

    @Test
    void whatRanInAPodIsLostWithIt() {
        Observed gone = seen(ran(Reason.RUNNING), Optional.empty());

        assertThat(Loss.of(gone, replaced(Reason.NODE_LOST))).contains("NodeLost");
        assertThat(Loss.of(gone, replaced(null))).contains("Deleted");
        assertThat(Loss.of(gone, new Decision.Wait(Optional.empty())))
                .as("no pod may follow yet")
                .contains("Deleted");
        assertThat(Loss.of(seen(ran(Reason.RUNNING), Optional.of(running(pod(1, null)))), new Decision.Run(1, START)))
                .as("it runs")
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"REQUESTED", "IDLE", "MAX_LIFETIME"})
    void aSuspendTakesItToo(Reason cause) {
        Observed running = seen(ran(Reason.RUNNING), Optional.of(running(pod(1, null))));
        assertThat(Loss.of(running, new Decision.Suspend(cause, 1))).contains(cause.value());
    }

    @Test
    void whereNoCodeCouldRunNothingIsLost() {
        SandboxStatus neverTold = status(Reason.STARTING, null, null);

        assertThat(Loss.of(seen(neverTold, Optional.of(pod(1, null))), replaced(Reason.EVICTED)))
                .isEmpty();
        assertThat(Loss.of(seen(neverTold, Optional.empty()), replaced(null))).isEmpty();
        assertThat(Loss.of(seen(neverTold, Optional.of(pod(1, null))), new Decision.Suspend(Reason.REQUESTED, 1)))
                .isEmpty();
        assertThat(Loss.of(seen(SandboxStatus.UNSEEN, Optional.empty()), new Decision.Run(1, START)))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource(names = {"EVICTED", "NODE_LOST", "CRASHED", "OOM_KILLED"})
    void ofAPodThatIsGoneTheStatusStillKnowsHowItEnded(Reason told) {
        assertThat(Loss.of(seen(ran(told), Optional.empty()), replaced(null))).contains(told.value());
    }

    @Test
    void aDebtStaysWhateverBecomesOfTheNextPods() {
        SandboxStatus owing = status(Reason.UNSCHEDULABLE, null, "Evicted");

        assertThat(Loss.of(seen(owing, Optional.empty()), replaced(Reason.NODE_LOST)))
                .contains("Evicted");
        assertThat(Loss.of(seen(owing, Optional.empty()), new Decision.Suspend(Reason.REQUESTED, 1)))
                .contains("Evicted");
        assertThat(Loss.of(seen(owing, Optional.empty()), new Decision.Resume(1, 2)))
                .contains("Evicted");
    }

    @Test
    void aPodThatHasNotRunSaysWhatIsOwedUntilItHas() {
        SandboxStatus ofTheFormer = ran(Reason.RUNNING);
        Observed made = seen(ofTheFormer, Optional.of(pod(2, "Evicted")));
        assertThat(Loss.of(made, new Decision.Run(2, START))).contains("Evicted");
        assertThat(Loss.of(made, new Decision.Replace(2, 3, Optional.empty())))
                .as("not Deleted, the former pod's cause is known")
                .contains("Evicted");

        Observed told = seen(ran(Reason.RUNNING), Optional.of(running(pod(1, "Evicted"))));
        assertThat(Loss.of(told, new Decision.Run(1, START))).isEmpty();
        assertThat(Loss.of(told, replaced(Reason.NODE_LOST))).contains("NodeLost");
    }

    @Test
    void theStatusOwesUntilAPodRuns() {
        Optional<String> lost = Optional.of("Evicted");
        SandboxStatus owing = status(Reason.STARTING, null, "Evicted");
        Decision.Run run = new Decision.Run(1, START);

        assertThat(StatusReport.of(seen(owing, Optional.of(pod(1, "Evicted"))), run, lost, DEADLINES)
                        .lost())
                .isEqualTo("Evicted");
        assertThat(StatusReport.of(seen(owing, Optional.of(running(pod(1, "Evicted")))), run, lost, DEADLINES)
                        .lost())
                .isNull();
        assertThat(StatusReport.of(seen(owing, Optional.empty()), new Decision.Sleep(START), lost, DEADLINES)
                        .lost())
                .isEqualTo("Evicted");
    }

    @Test
    void anImageThatCannotBeASandboxRanNothingThoughItsContainerWasCalledRunning() {
        SandboxStatus forAMoment = ran(Reason.RUNNING);
        Observed plain = seen(forAMoment, Optional.of(unusable(pod(1, null))));
        Observed owing = seen(forAMoment, Optional.of(unusable(pod(1, "Evicted"))));

        assertThat(Loss.of(plain, replaced(null))).isEmpty();
        assertThat(Loss.of(plain, new Decision.Suspend(Reason.REQUESTED, 1))).isEmpty();
        assertThat(Loss.of(owing, replaced(null))).contains("Evicted");
        assertThat(StatusReport.of(plain, new Decision.Run(1, START), Optional.empty(), DEADLINES)
                        .startedAt())
                .isNull();
        assertThat(StatusReport.of(
                                seen(ran(Reason.RUNNING), Optional.of(ended(pod(1, null), 3, "it broke"))),
                                new Decision.Run(1, START),
                                Optional.empty(),
                                DEADLINES)
                        .startedAt())
                .isNotNull();
    }

    private static Pod unusable(Pod pod) {
        return ended(pod, 1, "/usr/bin/python3: No module named sandglass_supervisor");
    }

    private static Pod ended(Pod pod, int exitCode, String lastWords) {
        return pod.edit()
                .editStatus()
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withNewState()
                .withNewTerminated()
                .withExitCode(exitCode)
                .withReason("Error")
                .withMessage(lastWords)
                .endTerminated()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    /** Or else what it ran would be forgotten if it went away before another one is made. */
    @Test
    void aPodThatHasRunStaysKnownForThatWhateverItsState() {
        Pod over = pod(1, null)
                .edit()
                .editStatus()
                .withPhase("Failed")
                .withReason("Evicted")
                .endStatus()
                .build();
        Decision wait = new Decision.Wait(Optional.empty());

        assertThat(StatusReport.of(seen(ran(Reason.RUNNING), Optional.of(over)), wait, Optional.empty(), DEADLINES)
                        .startedAt())
                .isEqualTo(START.toString());
        assertThat(StatusReport.of(
                                seen(status(Reason.STARTING, null, null), Optional.of(over)),
                                wait,
                                Optional.empty(),
                                DEADLINES)
                        .startedAt())
                .isNull();
        assertThat(StatusReport.of(
                                seen(ran(Reason.RUNNING), Optional.of(pod(2, null))), wait, Optional.empty(), DEADLINES)
                        .startedAt())
                .as("another pod")
                .isNull();
    }
}
