package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.SandboxContainer;
import dev.sandglass.operator.warmstart.Seats;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The claim of a seat, and what the lifecycle makes of the pod from then on. */
class ClaimedPodTest {

    private static final Instant MADE = Instant.parse("2026-11-28T09:00:00Z");
    private static final Instant NOW = Instant.parse("2026-11-28T10:00:00.250Z");
    private static final String SEAT = "3f0c9a51-6d1e-4f27-9b0a-8f6f7f1f2a10";
    private static final Path GOLDEN = Path.of("src/test/resources/claim/patch.yaml");
    private static final Deadlines INSTALLATION =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    private static Sandbox sandbox(SandboxSpec spec, SandboxStatus status) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", status);
        sandbox.getMetadata().setGeneration(1L);
        sandbox.setSpec(spec);
        return sandbox;
    }

    private static Sandbox sandbox() {
        return sandbox(SandboxSpec.DEFAULT, SandboxStatus.UNSEEN);
    }

    private static Pod cold(Sandbox sandbox, int incarnation, @Nullable String lost) {
        Pod pod = SandboxPod.desired(
                sandbox, incarnation, Seats.SETTINGS, Optional.empty(), Optional.empty(), NetworkProbe.NONE);
        return lost == null ? pod : SandboxContainer.after(pod, lost);
    }

    private static Pod seat() {
        return Seats.running(
                Seats.seat(
                        Seats.pool("tenant-a", "default", PoolTemplate.DEFAULT),
                        SEAT,
                        Seats.SETTINGS,
                        NetworkProbe.NONE),
                MADE);
    }

    private static Pod claimed(Sandbox sandbox, int incarnation, @Nullable String lost) {
        return Seats.claimed(seat(), cold(sandbox, incarnation, lost), NOW);
    }

    private static Observed seen(Sandbox sandbox, Pod pod, Instant now) {
        return new Observed(sandbox, Optional.of(pod), Optional.empty(), Optional.empty(), true, now);
    }

    private static SandboxStatus report(Sandbox sandbox, Pod pod, Instant now) {
        Observed seen = seen(sandbox, pod, now);
        Deadlines own = INSTALLATION.of(sandbox.wanted());
        Decision decision = Lifecycle.decide(seen, own);
        return StatusReport.of(seen, decision, Loss.of(seen, decision), own);
    }

    @Test
    void theClaimIsOneMergePatchOfThatVersionOfTheSeat() throws IOException {
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT.withMaxLifetime("90m"), SandboxStatus.UNSEEN);
        String patch = Serialization.asYaml(ClaimedPod.claim(seat(), cold(sandbox, 2, "Evicted"), NOW));
        if (Boolean.getBoolean("sandglass.generate")) {
            Files.writeString(GOLDEN, patch);
        }
        assertThat(Files.readString(GOLDEN))
                .as("if the change is meant, run: make generate")
                .isEqualTo(patch);
    }

    @Test
    void theTimeOfTheClaimHasMillisecondsEvenIfTheyAreNone() {
        Pod pod = Seats.claimed(seat(), cold(sandbox(), 1, null), Instant.parse("2026-11-28T10:00:00Z"));
        assertThat(pod.getMetadata().getAnnotations())
                .containsEntry(SandboxLabels.CLAIMED_AT, "2026-11-28T10:00:00.000Z");
        assertThat(ClaimedPod.claimedAt(pod)).contains(Instant.parse("2026-11-28T10:00:00Z"));
    }

    @Test
    void aClaimedSeatIsNoSeatAnyMore() {
        Pod pod = claimed(sandbox(), 1, null);
        assertThat(ClaimedPod.isFree(seat())).isTrue();
        assertThat(ClaimedPod.seat(seat())).isEmpty();
        assertThat(ClaimedPod.isFree(pod)).isFalse();
        assertThat(ClaimedPod.seat(pod)).contains(SEAT);
        assertThat(ClaimedPod.isOf(sandbox(), 1, pod)).isTrue();
        assertThat(ClaimedPod.isOf(sandbox(), 2, pod)).isFalse();
    }

    /** A label alone gives no pod the keys of another one. */
    @Test
    void thePodOfAnotherNameWasNoSeat() {
        Pod pod = claimed(sandbox(), 1, null)
                .edit()
                .editMetadata()
                .withName("sbx-uid-demo-1")
                .endMetadata()
                .build();
        assertThat(ClaimedPod.seat(pod)).isEmpty();
        assertThat(ClaimedPod.claimedAt(pod)).isEmpty();
    }

    @Test
    void aTimeThatIsNoneCountsAsNoClaim() {
        Pod pod = claimed(sandbox(), 1, null)
                .edit()
                .editMetadata()
                .addToAnnotations(SandboxLabels.CLAIMED_AT, "just now")
                .endMetadata()
                .build();
        assertThat(Deadlines.startOf(pod)).isEqualTo(MADE);
    }

    /** What a reader of the status learns of a warm start is what it learns of a cold one, but for the pod. */
    @Test
    void warmAndColdGiveTheSameStatusButForTheSeat() {
        for (SandboxSpec spec : List.of(
                SandboxSpec.DEFAULT,
                SandboxSpec.DEFAULT.withMaxLifetime("90m"),
                SandboxSpec.DEFAULT.withIdleTimeout("5m"))) {
            Sandbox sandbox = sandbox(spec, SandboxStatus.UNSEEN);
            for (Instant now : List.of(NOW.plusMillis(5), NOW.plusSeconds(3600))) {
                SandboxStatus warm = report(sandbox, claimed(sandbox, 1, null), now);
                SandboxStatus cold = report(sandbox, Seats.running(cold(sandbox, 1, null), NOW), now);
                assertThat(warm.seat()).isEqualTo(warm.holds(ConditionType.SUSPENDED) ? null : SEAT);
                assertThat(with(cold, warm)).isEqualTo(warm);
            }
        }
    }

    private static SandboxStatus with(SandboxStatus cold, SandboxStatus warm) {
        return new SandboxStatus(
                cold.observedGeneration(),
                cold.conditions(),
                cold.address(),
                warm.podName(),
                cold.incarnation(),
                cold.startedAt(),
                cold.suspendedAt(),
                cold.expiresAt(),
                cold.restarts(),
                cold.restartReason(),
                cold.lost(),
                warm.seat(),
                warm.start());
    }

    @Test
    void theStatusSaysHowThePodWasStarted() {
        assertThat(report(sandbox(), claimed(sandbox(), 1, null), NOW).start()).isEqualTo("Warm: pool default");
        Pod cold = Seats.running(cold(sandbox(), 1, null), NOW);
        assertThat(report(sandbox(), cold, NOW).start()).isNull();
        assertThat(report(sandbox(), SandboxPod.coldBecause(cold, "NoMatch: memory"), NOW)
                        .start())
                .isEqualTo("Cold: NoMatch: memory");
        assertThat(report(sandbox(), SandboxPod.coldBecause(cold, "<b>any</b>"), NOW)
                        .start())
                .as("the words of others")
                .isNull();
    }

    @Test
    void aWarmStartIsToldAtOnce() {
        Observed seen = seen(sandbox(), claimed(sandbox(), 1, null), NOW);
        assertThat(StatusReport.mayWait(seen, report(sandbox(), claimed(sandbox(), 1, null), NOW)))
                .isEmpty();
    }

    @Test
    void lifetimeAndIdleTimeCountFromTheClaim() {
        Pod pod = claimed(sandbox(), 1, null);
        assertThat(pod.getSpec().getActiveDeadlineSeconds())
                .isEqualTo(3601 + Duration.ofHours(8).toSeconds());
        assertThat(INSTALLATION.oldAt(pod)).isEqualTo(NOW.plus(Duration.ofHours(8)));
        assertThat(INSTALLATION.idleAt(pod, Optional.empty())).isEqualTo(NOW.plus(Duration.ofMinutes(30)));
        assertThat(INSTALLATION.shortened(pod)).isEmpty();
        assertThat(INSTALLATION.awaitsLongerLife(pod, SandboxSpec.DEFAULT)).isFalse();
    }

    /** The node counts from the pod's start. */
    @Test
    void aShorterLifeIsTheAgeAtTheClaimLonger() {
        Deadlines shorter = INSTALLATION.of(SandboxSpec.DEFAULT.withMaxLifetime("2h"));
        Pod pod = claimed(sandbox(), 1, null);
        assertThat(shorter.shortened(pod)).contains(Duration.ofHours(2).plusSeconds(3601));
        assertThat(shorter.oldAt(pod)).isEqualTo(NOW.plus(Duration.ofHours(2)));
        Pod told = pod.edit()
                .editSpec()
                .withActiveDeadlineSeconds(Duration.ofHours(2).toSeconds() + 3601)
                .endSpec()
                .build();
        assertThat(shorter.shortened(told)).isEmpty();
        assertThat(shorter.oldAt(told)).isEqualTo(NOW.plus(Duration.ofHours(2)));
    }

    @Test
    void whatBefellTheSeatBeforeItsClaimIsNoMatterOfTheSandbox() {
        assertThat(restarted(MADE.plusSeconds(60)).restarts()).isNull();
        assertThat(restarted(MADE.plusSeconds(60)).reason(ConditionType.READY)).contains(Reason.RUNNING);
        assertThat(restarted(NOW.plusSeconds(1)).restarts()).isEqualTo(1);
        assertThat(restarted(NOW.plusSeconds(1)).reason(ConditionType.READY)).contains(Reason.RESTARTED);
    }

    private static SandboxStatus restarted(Instant since) {
        Pod pod = claimed(sandbox(), 1, null)
                .edit()
                .editStatus()
                .editFirstContainerStatus()
                .withRestartCount(1)
                .withNewState()
                .withNewRunning()
                .withStartedAt(since.toString())
                .endRunning()
                .endState()
                .withNewLastState()
                .withNewTerminated()
                .withReason("OOMKilled")
                .withExitCode(137)
                .endTerminated()
                .endLastState()
                .endContainerStatus()
                .endStatus()
                .build();
        return report(sandbox(), pod, NOW.plusSeconds(2));
    }

    /** A running pod cannot be given a variable of its environment, so the gateway tells it. */
    @Test
    void whatIsLostStaysInTheStatusAsLongAsTheSeatDoes() {
        Pod pod = claimed(sandbox(), 2, "Evicted");
        SandboxStatus first = report(sandbox(), pod, NOW);
        assertThat(first.lost()).isEqualTo("Evicted");

        Sandbox told = sandbox(SandboxSpec.DEFAULT, first);
        assertThat(report(told, pod, NOW.plusSeconds(60)).lost()).isEqualTo("Evicted");

        Observed seen = seen(told, pod, NOW.plusSeconds(60));
        assertThat(Loss.of(seen, new Decision.Suspend(Reason.IDLE, 2)))
                .as("the next loss is another one")
                .contains("Idle");
    }

    @Test
    void anOperatorThatFollowsADeadOneFindsTheDebtInTheClaim() {
        SandboxStatus suspended =
                new SandboxStatus(1L, null, null, null, 1, null, NOW.toString(), null, null, null, "Evicted");
        Sandbox sandbox = sandbox(SandboxSpec.DEFAULT, suspended);
        assertThat(report(sandbox, claimed(sandbox, 2, "Evicted"), NOW).lost()).isEqualTo("Evicted");
    }

    @Test
    void ofTwoClaimsTheOneInTheStatusCountsAndThenTheOlder() {
        Pod older = claimed(sandbox(), 1, null);
        Pod younger = Seats.claimed(other(), cold(sandbox(), 1, null), NOW.plusMillis(1));
        List<Pod> both = List.of(younger, older);
        assertThat(PodChoice.current(sandbox(), both)).contains(older);

        Sandbox told = sandbox(SandboxSpec.DEFAULT, report(sandbox(), younger, NOW.plusMillis(2)));
        assertThat(PodChoice.current(told, both)).contains(younger);
        assertThat(PodChoice.isCertain(told, younger)).isTrue();
        assertThat(PodChoice.isCertain(told, older)).isFalse();
        assertThat(PodChoice.strays(younger, both)).containsExactly(older);

        Pod next = cold(sandbox(), 2, null);
        assertThat(PodChoice.current(told, List.of(younger, next))).contains(next);
    }

    private static Pod other() {
        return Seats.running(
                Seats.seat(
                        Seats.pool("tenant-a", "default", PoolTemplate.DEFAULT),
                        "0a0c9a51-6d1e-4f27-9b0a-8f6f7f1f2a10",
                        Seats.SETTINGS,
                        NetworkProbe.NONE),
                MADE);
    }

    @Test
    void aPodThatIsOnItsWayOutIsNoStray() {
        Pod kept = claimed(sandbox(), 1, null);
        Pod cold = Seats.running(cold(sandbox(), 1, null), NOW);
        assertThat(PodChoice.strays(kept, List.of(kept, cold))).containsExactly(cold);
        Pod leaving = cold.edit()
                .editMetadata()
                .withDeletionTimestamp(NOW.toString())
                .endMetadata()
                .build();
        assertThat(PodChoice.strays(kept, List.of(kept, leaving))).isEmpty();
        Pod former = Seats.running(cold(sandbox(), 1, null), NOW);
        assertThat(PodChoice.strays(cold(sandbox(), 2, null), List.of(former)))
                .as("the cache may be behind")
                .isEmpty();
    }

    @Test
    void theSecretOfAClaimedPodGoesWithThePod() {
        Pod pod = claimed(sandbox(), 1, null);
        assertThat(SeatPod.ofSecret(pod).getName()).isEqualTo("sbx-" + SEAT + "-0");
        assertThat(SeatPod.ofSecret(pod).getOwnerReferences()).singleElement().satisfies(owner -> {
            assertThat(owner.getKind()).isEqualTo("Pod");
            assertThat(owner.getUid()).isEqualTo(pod.getMetadata().getUid());
        });
    }
}
