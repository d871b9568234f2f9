package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.cluster.Statuses;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When the next round is if nothing happens. */
class ReviewTest {

    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    private static Observed seen(SandboxSpec spec) {
        SandboxStatus asleep = new SandboxStatus(
                1L,
                Statuses.suspended(Reason.IDLE).conditions(),
                null,
                null,
                1,
                null,
                NOW.minus(Duration.ofHours(20)).toString(),
                null,
                null,
                null,
                null);
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", asleep);
        sandbox.getMetadata().setGeneration(2L);
        sandbox.setSpec(spec);
        return new Observed(sandbox, Optional.empty(), Optional.empty(), Optional.empty(), true, NOW);
    }

    private static Optional<Instant> review(SandboxSpec spec, Decision decision) {
        Observed seen = seen(spec);
        return Review.of(seen, decision, StatusReport.of(seen, decision, Optional.empty(), DEADLINES), DEADLINES);
    }

    /** That it is gone is no event for us; that it is not would be none either. */
    @Test
    void whetherADeletedSandboxIsGoneIsLookedForSoon() {
        assertThat(review(SandboxSpec.DEFAULT, new Decision.Delete())).contains(NOW.plusSeconds(2));
    }

    @Test
    void whatIsKeptForEverNeedsNoLook() {
        SandboxSpec lasting = SandboxSpec.DEFAULT.withWorkspace(new Workspace(new Quantity("1Gi"), null, null));
        assertThat(review(lasting, new Decision.Keep())).isEmpty();
        assertThat(review(lasting, new Decision.Suspend(Reason.REQUESTED, 1))).isEmpty();
        assertThat(review(SandboxSpec.DEFAULT, new Decision.Leave())).isEmpty();
    }

    @Test
    void whoIsSuspendedByHandInItsSleepIsForgottenWhenTheStatusSaysSo() {
        Observed seen = seen(SandboxSpec.DEFAULT.withSuspended(true));
        Decision decision = Lifecycle.decide(seen, DEADLINES);
        SandboxStatus told = StatusReport.of(seen, decision, Optional.empty(), DEADLINES);

        assertThat(decision).isEqualTo(new Decision.Suspend(Reason.REQUESTED, 1));
        assertThat(told.expiresAt()).isEqualTo(NOW.plus(Duration.ofHours(4)).toString());
        assertThat(Review.of(seen, decision, told, DEADLINES)).contains(NOW.plus(Duration.ofHours(4)));
    }

    /** When the next attempt is, at a sandbox that is not Ready for so long. */
    private static Duration pause(Duration notReady, Reason reason) {
        SandboxStatus told = Statuses.ready("False", reason, "no", NOW.minus(notReady));
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", told);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        return pause(sandbox, new Decision.Run(1, NOW), reason);
    }

    private static Duration pause(Sandbox sandbox, Decision decision, Reason reason) {
        return pause(sandbox, decision, new PodRefusal(reason, "no"));
    }

    private static Duration pause(Sandbox sandbox, Decision decision, PodRefusal refusal) {
        Observed after = new Observed(sandbox, Optional.empty(), Optional.empty(), Optional.of(refusal), true, NOW);
        SandboxStatus status = StatusReport.of(after, decision, Optional.empty(), DEADLINES);
        return Duration.between(
                NOW, Review.of(after, decision, status, DEADLINES).orElseThrow());
    }

    @Test
    void whoWaitsForRoomAsksTheMoreSeldomTheLongerItWaits() {
        assertThat(pause(Duration.ZERO, Reason.QUOTA_EXCEEDED)).hasSeconds(10);
        assertThat(pause(Duration.ofSeconds(10), Reason.QUOTA_EXCEEDED)).hasSeconds(10);
        assertThat(pause(Duration.ofMinutes(2), Reason.QUOTA_EXCEEDED)).hasSeconds(30);
        assertThat(pause(Duration.ofMinutes(10), Reason.QUOTA_EXCEEDED)).hasSeconds(150);
        assertThat(pause(Duration.ZERO, Reason.VOLUME_MISSING)).hasSeconds(1);
        assertThat(pause(Duration.ofSeconds(8), Reason.VOLUME_MISSING)).hasSeconds(2);
        assertThat(pause(Duration.ofMinutes(20), Reason.VOLUME_MISSING)).hasSeconds(300);
        assertThat(pause(Duration.ofDays(3), Reason.QUOTA_EXCEEDED)).hasSeconds(300);
    }

    /** However long it waited before. */
    @Test
    void whoGetsTheRoomOfASeatTriesAgainWhenTheSeatHasLeft() {
        SandboxStatus told = Statuses.ready("False", Reason.QUOTA_EXCEEDED, "no", NOW.minus(Duration.ofDays(3)));
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", told);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        PodRefusal full = new PodRefusal(Reason.QUOTA_EXCEEDED, "exceeded quota");
        assertThat(pause(sandbox, new Decision.Run(1, NOW), full)).isGreaterThan(Duration.ofMinutes(1));
        assertThat(pause(sandbox, new Decision.Run(1, NOW), full.withSeatEnding()))
                .hasSeconds(3);
        assertThat(full.withSeatEnding().message()).contains("seat of a pool").contains("exceeded quota");
    }

    @Test
    void whatNeedsSomebodyToActIsTriedEachMinute() {
        assertThat(pause(Duration.ZERO, Reason.POD_REFUSED)).hasSeconds(60);
        assertThat(pause(Duration.ofDays(3), Reason.POD_REFUSED)).hasSeconds(60);
    }

    /** It slept for hours, and is wanted only now. */
    @Test
    void sleepIsNoWait() {
        Sandbox sandbox = seen(SandboxSpec.DEFAULT).sandbox();
        assertThat(pause(sandbox, new Decision.Resume(1, 2), Reason.QUOTA_EXCEEDED))
                .hasSeconds(10);
    }

    /** What it waited for before is no matter: a quota may be full for a moment. */
    @Test
    void aNewCauseIsTriedAgainSoon() {
        SandboxStatus told = Statuses.ready("False", Reason.INVALID_SPEC, "no", NOW.minus(Duration.ofDays(3)));
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", told);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        assertThat(pause(sandbox, new Decision.Run(1, NOW), Reason.QUOTA_EXCEEDED))
                .hasSeconds(10);
    }
}
