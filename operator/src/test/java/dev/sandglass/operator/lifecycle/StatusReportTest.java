package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.cluster.Statuses;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which status need not be told at once, and what one says of policies that are not there. */
class StatusReportTest {

    private static final Instant MADE = Instant.parse("2026-03-01T10:00:00Z");
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));
    private static final Instant TOLD = MADE.plus(StatusReport.UNTOLD);

    private static Pod pod(int incarnation) {
        return new PodBuilder()
                .withNewMetadata()
                .withName("sbx-" + incarnation)
                .addToLabels(SandboxLabels.INCARNATION, Integer.toString(incarnation))
                .withCreationTimestamp(MADE.toString())
                .endMetadata()
                .withNewStatus()
                .withPhase("Pending")
                .endStatus()
                .build();
    }

    private static SandboxStatus ready(String value, Reason reason) {
        return SandboxStatus.UNSEEN.withConditions(List.of(new ConditionBuilder()
                .withType(ConditionType.READY.value())
                .withStatus(value)
                .withReason(reason.value())
                .build()));
    }

    private static Optional<Instant> mayWait(
            @Nullable SandboxStatus former, Optional<Pod> pod, SandboxStatus status, Instant now) {
        Sandbox sandbox = new Sandbox();
        sandbox.setSpec(SandboxSpec.DEFAULT);
        sandbox.getMetadata().setCreationTimestamp(MADE.toString());
        sandbox.setStatus(former);
        return StatusReport.mayWait(new Observed(sandbox, pod, Optional.empty(), Optional.empty(), true, now), status);
    }

    private static Optional<Instant> firstStart(Reason reason, Instant now) {
        return mayWait(null, Optional.of(pod(1)), ready("False", reason), now);
    }

    @Test
    void thatAFirstStartIsOnItsWayIsToldOnlyOfASlowOne() {
        assertThat(firstStart(Reason.STARTING, MADE)).contains(TOLD);
        assertThat(firstStart(Reason.STARTING, TOLD.minusNanos(1))).contains(TOLD);
        assertThat(firstStart(Reason.STARTING, TOLD)).isEmpty();
    }

    @Test
    void aClockThatDiffersFromTheApiServersDelaysNothing() {
        assertThat(firstStart(Reason.STARTING, MADE.minus(Duration.ofHours(1)))).isEmpty();
        assertThat(firstStart(Reason.STARTING, MADE.minus(StatusReport.UNTOLD))).isEmpty();
        assertThat(firstStart(Reason.STARTING, MADE.plus(Duration.ofHours(1)))).isEmpty();
    }

    @Test
    void troubleAndSuccessAreToldAtOnce() {
        assertThat(firstStart(Reason.UNSCHEDULABLE, MADE)).isEmpty();
        assertThat(firstStart(Reason.IMAGE_PULL_FAILED, MADE)).isEmpty();
        assertThat(mayWait(null, Optional.of(pod(1)), ready("True", Reason.RUNNING), MADE))
                .isEmpty();
    }

    @Test
    void whoWasToldSomethingBeforeIsToldThatItHoldsNoMore() {
        SandboxStatus former = ready("True", Reason.RUNNING);

        assertThat(mayWait(former, Optional.of(pod(1)), ready("False", Reason.STARTING), MADE))
                .isEmpty();
    }

    @Test
    void withoutAPodThereIsNothingToWaitFor() {
        assertThat(mayWait(null, Optional.empty(), ready("False", Reason.STARTING), MADE))
                .isEmpty();
    }

    @Test
    void theNextPodIsNoFirstStart() {
        assertThat(mayWait(null, Optional.of(pod(2)), ready("False", Reason.STARTING), MADE))
                .isEmpty();
    }

    private static Optional<Instant> lacksVolume(@Nullable SandboxStatus former, Instant now) {
        return mayWait(former, Optional.empty(), ready("False", Reason.VOLUME_MISSING), now);
    }

    /** The gateway makes the Secret of an agent's server a moment after the server. */
    @Test
    void aVolumeThatANewSandboxLacksIsToldAfterFiveSeconds() {
        Instant told = MADE.plusSeconds(5);

        assertThat(lacksVolume(null, MADE)).contains(told);
        assertThat(lacksVolume(null, told.minusNanos(1))).contains(told);
        assertThat(lacksVolume(null, told)).isEmpty();
        // Another round may have told meanwhile that the sandbox starts.
        assertThat(lacksVolume(ready("False", Reason.STARTING), MADE)).contains(told);
        assertThat(lacksVolume(null, MADE.minus(Duration.ofHours(1)))).isEmpty();
    }

    @Test
    void aVolumeThatTheNodeCannotMountIsToldAtOnce() {
        assertThat(firstStart(Reason.VOLUME_MISSING, MADE)).isEmpty();
    }

    private static Sandbox failing(SandboxStatus former, boolean suspended) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", former);
        sandbox.setSpec(SandboxSpec.DEFAULT.withSuspended(suspended));
        return sandbox;
    }

    private static SandboxStatus failed(Sandbox sandbox, boolean networkReady) {
        Observed seen = new Observed(
                sandbox, Optional.empty(), Optional.empty(), Optional.empty(), networkReady, MADE.plusSeconds(9));
        return seen.status().withConditions(Conditions.failed(seen, "The operator failed: why"));
    }

    @Test
    void policiesThatCannotBeMadeAreToldAlsoOfASandboxThatRuns() {
        SandboxStatus running = Statuses.networked(Statuses.ready("True", Reason.RUNNING, "The sandbox runs"));

        SandboxStatus cutOff = failed(failing(running, false), false);

        assertThat(cutOff.holds(ConditionType.READY)).isTrue();
        assertThat(cutOff.reason(ConditionType.READY)).contains(Reason.RUNNING);
        assertThat(cutOff.condition(ConditionType.NETWORK_READY)).hasValueSatisfying(told -> {
            assertThat(told.getStatus()).isEqualTo("False");
            assertThat(told.getReason()).isEqualTo("OperatorError");
            assertThat(told.getMessage()).isEqualTo("The operator failed: why");
            assertThat(told.getLastTransitionTime())
                    .isEqualTo(MADE.plusSeconds(9).toString());
        });
        assertThat(failed(failing(running, false), true)).as("they are there").isEqualTo(running);
        assertThat(failed(failing(running, true), false).condition(ConditionType.NETWORK_READY))
                .as("nobody wants them now")
                .isEmpty();
    }

    @Test
    void aFirstStartThatFailsBeforeItsPoliciesSaysSoOfBoth() {
        SandboxStatus told = failed(failing(SandboxStatus.UNSEEN, false), false);

        assertThat(told.conditions())
                .extracting(condition -> condition.getType() + "=" + condition.getStatus())
                .containsExactly("Ready=Unknown", "NetworkReady=False");
    }

    private static SandboxStatus reported(Sandbox sandbox, Optional<PodRefusal> refusal, boolean networkReady) {
        sandbox.getMetadata().setGeneration(2L);
        Observed seen = new Observed(sandbox, Optional.empty(), Optional.empty(), refusal, networkReady, MADE);
        return StatusReport.of(seen, Lifecycle.decide(seen, DEADLINES), Optional.empty(), DEADLINES);
    }

    @Test
    void policiesThatAreNotAsTheEditedSpecWantsThemAreNotCalledReady() {
        SandboxStatus before = Statuses.networked(Statuses.ready("False", Reason.STARTING, "on its way"));
        PodRefusal refusal = new PodRefusal(Reason.INVALID_SPEC, "spec.allowedDomains: '10.1.2.3' is not public");

        SandboxStatus told = reported(failing(before, false), Optional.of(refusal), false);

        assertThat(told.reason(ConditionType.READY)).contains(Reason.INVALID_SPEC);
        assertThat(told.condition(ConditionType.NETWORK_READY)).isEmpty();
        assertThat(reported(failing(before, false), Optional.of(refusal), true).condition(ConditionType.NETWORK_READY))
                .hasValueSatisfying(network -> assertThat(network.getObservedGeneration())
                        .as("they are there, and that was looked up")
                        .isEqualTo(2));
    }

    @Test
    void nothingIsToldOfPoliciesBeforeAPodIsWanted() {
        SandboxStatus born = reported(failing(SandboxStatus.UNSEEN, true), Optional.empty(), true);
        SandboxStatus ran = Statuses.networked(Statuses.ready("True", Reason.RUNNING, "The sandbox runs"));

        assertThat(born.conditions()).extracting(Condition::getType).containsExactly("Ready", "Suspended");
        assertThat(reported(failing(born, true), Optional.empty(), true).condition(ConditionType.NETWORK_READY))
                .isEmpty();
        assertThat(reported(failing(ran, true), Optional.empty(), true).holds(ConditionType.NETWORK_READY))
                .isTrue();
    }
}
