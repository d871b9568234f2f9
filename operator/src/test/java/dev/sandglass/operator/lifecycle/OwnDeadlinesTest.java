package dev.sandglass.operator.lifecycle;

import static dev.sandglass.api.ConditionType.READY;
import static dev.sandglass.api.ConditionType.SUSPENDED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.pod.SandboxContainer;
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

/** What a sandbox says of its deadlines wins over the installation's, to the millisecond, and edits count at once. */
class OwnDeadlinesTest {

    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Deadlines INSTALLATION =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    /** Digest of a spec that names nothing of what shapes a pod, as in the golden files. */
    private static final String DEFAULTS = "440626df41cfe51d";

    private static final SandboxSpec QUICK =
            SandboxSpec.DEFAULT.withIdleTimeout("5m").withMaxLifetime("1h30m").withRetention("90s");

    private static Sandbox running(SandboxSpec spec) {
        return sandbox(spec, new SandboxStatus(1L, null, null, "pod", 1, null, null, null, null, null, null));
    }

    private static Sandbox asleep(SandboxSpec spec, Reason cause) {
        var suspended = new ConditionBuilder()
                .withType(SUSPENDED.value())
                .withStatus("True")
                .withReason(cause.value())
                .build();
        return sandbox(
                spec,
                new SandboxStatus(
                        1L, List.of(suspended), null, null, 1, null, START.toString(), null, null, null, null));
    }

    private static Sandbox sandbox(SandboxSpec spec, SandboxStatus status) {
        var sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.setSpec(spec);
        sandbox.setStatus(status);
        return sandbox;
    }

    /** A running pod that was made for a life of so many hours. */
    private static Pod pod(long hours) {
        return new PodBuilder()
                .withNewMetadata()
                .withName("pod")
                .withCreationTimestamp(START.toString())
                .addToLabels(SandboxLabels.INCARNATION, "1")
                .addToAnnotations(SandboxLabels.POD_SPEC_HASH, DEFAULTS)
                .endMetadata()
                .withNewSpec()
                .withActiveDeadlineSeconds(Duration.ofHours(hours).toSeconds())
                .endSpec()
                .withNewStatus()
                .withPhase("Running")
                .withPodIP("10.1.2.3")
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withNewState()
                .withNewRunning()
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    private static Lease usedUntil(Instant renewed, int seconds) {
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

    private static Decision decide(Observed seen) {
        return Lifecycle.decide(seen, INSTALLATION.of(seen.sandbox().wanted()));
    }

    private static Decision decide(SandboxSpec spec, Pod pod, Optional<Lease> lease, Instant now) {
        return decide(seen(running(spec), Optional.of(pod), lease, now));
    }

    private static SandboxStatus report(SandboxSpec spec, Pod pod) {
        Observed seen = seen(running(spec), Optional.of(pod), Optional.empty(), START.plusSeconds(1));
        return StatusReport.of(seen, decide(seen), Optional.empty(), INSTALLATION.of(spec));
    }

    @Test
    void whatASandboxDoesNotSayIsTheInstallations() {
        assertThat(INSTALLATION.of(SandboxSpec.DEFAULT)).isEqualTo(INSTALLATION);
        assertThat(INSTALLATION.of(SandboxSpec.DEFAULT.withRetention("90s")))
                .isEqualTo(new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofSeconds(90)));
    }

    @Test
    void aTextThatBreaksTheRuleDoesNotEndARunningSandbox() {
        assertThat(INSTALLATION.of(SandboxSpec.DEFAULT.withIdleTimeout("0s").withMaxLifetime("soon")))
                .isEqualTo(INSTALLATION);
    }

    @Test
    void itsOwnIdleTimeCountsFromTheEndOfTheAnnouncedUse() {
        Optional<Lease> lease = Optional.of(usedUntil(START.plusSeconds(60), 600));
        Instant idle = START.plusSeconds(60 + 600).plus(Duration.ofMinutes(5));
        assertThat(decide(QUICK, pod(8), lease, idle.minusMillis(1))).isEqualTo(new Decision.Run(1, idle));
        assertThat(decide(QUICK, pod(8), lease, idle)).isEqualTo(new Decision.Suspend(Reason.IDLE, 1));
    }

    @Test
    void aLongerIdleTimeThanTheInstallationsHoldsToo() {
        SandboxSpec patient = SandboxSpec.DEFAULT.withIdleTimeout("2h");
        Instant idle = START.plus(Duration.ofHours(2));
        assertThat(decide(patient, pod(8), Optional.empty(), idle.minusMillis(1)))
                .isEqualTo(new Decision.Run(1, idle));
        assertThat(decide(patient, pod(8), Optional.empty(), idle)).isEqualTo(new Decision.Suspend(Reason.IDLE, 1));
    }

    @Test
    void itsOwnMaximumAgeEndsItWhateverItDoes() {
        Instant old = START.plus(Duration.ofMinutes(90));
        Optional<Lease> busy = Optional.of(usedUntil(old.minusSeconds(1), 3600));
        assertThat(decide(QUICK, pod(8), busy, old.minusMillis(1))).isEqualTo(new Decision.Run(1, old));
        assertThat(decide(QUICK, pod(8), busy, old)).isEqualTo(new Decision.Suspend(Reason.MAX_LIFETIME, 1));
    }

    @Test
    void itsOwnRetentionForgetsItHoweverItFellAsleep() {
        Instant end = START.plusSeconds(90);
        for (Reason cause : new Reason[] {Reason.IDLE, Reason.MAX_LIFETIME, Reason.REQUESTED}) {
            Sandbox sandbox = asleep(QUICK.withSuspended(cause == Reason.REQUESTED), cause);
            assertThat(decide(seen(sandbox, Optional.empty(), Optional.empty(), end.minusMillis(1))))
                    .isEqualTo(new Decision.Sleep(end));
            assertThat(decide(seen(sandbox, Optional.empty(), Optional.empty(), end)))
                    .isEqualTo(new Decision.Delete());
        }
    }

    @Test
    void aNewSandboxIsLookedAfterAtTheEarlierOfItsDeadlines() {
        SandboxSpec brief = SandboxSpec.DEFAULT.withMaxLifetime("10m");
        Observed fresh = seen(sandbox(brief, SandboxStatus.UNSEEN), Optional.empty(), Optional.empty(), START);
        assertThat(decide(fresh)).isEqualTo(new Decision.Run(1, START.plus(Duration.ofMinutes(10))));
    }

    @Test
    void aShorterLifeHoldsAtOnceAndTheNodeIsTold() {
        Deadlines own = INSTALLATION.of(SandboxSpec.DEFAULT.withMaxLifetime("2h"));
        assertThat(own.shortened(pod(8))).contains(Duration.ofHours(2));
        assertThat(own.shortened(pod(2))).isEmpty();
        SandboxStatus status = report(SandboxSpec.DEFAULT.withMaxLifetime("2h"), pod(8));
        assertThat(status.reason(READY)).contains(Reason.RUNNING);
        assertThat(status.expiresAt()).isEqualTo("2026-03-01T12:00:00Z");
    }

    @Test
    void aLongerLifeWaitsForTheNextPodAndIsToldAsPending() {
        SandboxSpec longer = SandboxSpec.DEFAULT.withMaxLifetime("10h").withIdleTimeout("700h");
        assertThat(INSTALLATION.of(longer).shortened(pod(8))).isEmpty();
        SandboxStatus status = report(longer, pod(8));
        assertThat(status.reason(READY)).contains(Reason.UPDATE_PENDING);
        assertThat(status.holds(READY)).isTrue();
        assertThat(status.expiresAt()).isEqualTo("2026-03-01T18:00:00Z");
        Instant old = START.plus(Duration.ofHours(8));
        assertThat(decide(longer, pod(8), Optional.empty(), old.minusMillis(1))).isEqualTo(new Decision.Run(1, old));
        assertThat(decide(longer, pod(8), Optional.empty(), old))
                .isEqualTo(new Decision.Suspend(Reason.MAX_LIFETIME, 1));
    }

    private static boolean awaitsLongerLife(Pod pod, SandboxSpec spec) {
        return INSTALLATION.of(spec).awaitsLongerLife(pod, spec);
    }

    @Test
    void anInstallationThatAllowsLongerLivesIsNoEditOfASandbox() {
        assertThat(awaitsLongerLife(pod(2), SandboxSpec.DEFAULT)).isFalse();
        assertThat(awaitsLongerLife(pod(2), SandboxSpec.DEFAULT.withMaxLifetime("2h")))
                .isFalse();
    }

    /** A running pod whose sandbox asked for a life of so many hours, which may have been shortened since. */
    private static Pod own(long asked, long hours) {
        return pod(hours)
                .edit()
                .editMetadata()
                .addToAnnotations(
                        SandboxLabels.OWN_MAX_LIFETIME,
                        Long.toString(Duration.ofHours(asked).toSeconds()))
                .endMetadata()
                .build();
    }

    @Test
    void whoNoLongerAsksForAShorterLifeAwaitsTheInstallations() {
        assertThat(report(SandboxSpec.DEFAULT, own(2, 2)).reason(READY)).contains(Reason.UPDATE_PENDING);
        assertThat(awaitsLongerLife(own(9, 8), SandboxSpec.DEFAULT))
                .as("what it has by now is the installation's")
                .isFalse();
        assertThat(awaitsLongerLife(own(4, 2), SandboxSpec.DEFAULT))
                .as("and so was this, until the installation's grew")
                .isFalse();
    }
}
