package dev.sandglass.operator.pool;

import static dev.sandglass.operator.pool.Pools.NOW;
import static dev.sandglass.operator.pool.Pools.failed;
import static dev.sandglass.operator.pool.Pools.leaving;
import static dev.sandglass.operator.pool.Pools.outdated;
import static dev.sandglass.operator.pool.Pools.ready;
import static dev.sandglass.operator.pool.Pools.starting;
import static dev.sandglass.operator.pool.Pools.unschedulable;
import static dev.sandglass.operator.pool.Pools.view;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.pool.PoolCondition;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolStatus;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.PodSettings;
import io.fabric8.kubernetes.api.model.Condition;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a pool says of its seats, and when that is worth a write and an Event. */
class PoolReportTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static String said(SandboxPoolStatus status, PoolCondition type) {
        Condition told = status.condition(type).orElseThrow();
        return told.getStatus() + " " + told.getReason();
    }

    private static String message(SandboxPoolStatus status) {
        return status.condition(PoolCondition.PROGRESSING).orElseThrow().getMessage();
    }

    private static void says(SandboxPoolStatus status, String available, String progressing) {
        assertThat(said(status, PoolCondition.AVAILABLE)).isEqualTo(available);
        assertThat(said(status, PoolCondition.PROGRESSING)).isEqualTo(progressing);
    }

    private static SandboxPoolStatus refused(PoolView view, PodRefusal refusal, boolean open) {
        return PoolReport.of(new PoolView(
                view.pool(),
                view.seats(),
                view.hash(),
                Optional.of(refusal).filter(why -> !open),
                Optional.of(refusal).filter(why -> open),
                view.memory(),
                view.lastClaim(),
                view.heldUntil(),
                NOW));
    }

    @Test
    void seatsAreCountedByWhatTheyAreGoodFor() {
        SandboxPoolStatus status = PoolReport.of(view(
                4,
                ready(1, MINUTE),
                ready(2, MINUTE),
                starting(3, Duration.ofSeconds(3)),
                outdated(ready(4, MINUTE)),
                failed(5, MINUTE),
                leaving(6, MINUTE)));
        assertThat(status.observedGeneration()).isEqualTo(1);
        assertThat(status.replicas()).isEqualTo(4);
        assertThat(status.readyReplicas()).isEqualTo(2);
        assertThat(status.updatedReplicas()).isEqualTo(3);
        assertThat(status.selector()).isEqualTo("sandglass.dev/pool=warm,!sandglass.dev/sandbox-uid");
        says(status, "True SeatsReady", "True SeatsStarting");
    }

    @Test
    void thePoolSaysHowFarItIs() {
        says(PoolReport.of(view(0)), "True NoSeatsWanted", "True Complete");
        says(PoolReport.of(view(1)), "False SeatsStarting", "True SeatsStarting");
        says(PoolReport.of(view(1, ready(1, MINUTE))), "True SeatsReady", "True Complete");
        says(
                PoolReport.of(view(1, ready(1, MINUTE), outdated(ready(2, MINUTE)))),
                "True SeatsReady",
                "True SeatsStarting");
        says(
                PoolReport.of(view(1, ready(1, MINUTE), starting(2, MINUTE))),
                "True SeatsReady",
                "False DeadlineExceeded");
    }

    @Test
    void whatTheInstallationRefusesIsSaidAsOfASandbox() {
        SandboxPool pool = Pools.pool("warm", 1, "elsewhere.example.org/kernel:1");
        PodSettings strict = new PodSettings(
                new ImagePolicy("registry.example.com/kernel:1", List.of("registry.example.com/*")),
                Pools.SETTINGS.maxLifetime(),
                Pools.SETTINGS.account(),
                Pools.SETTINGS.runtimeClasses(),
                Pools.SETTINGS.users(),
                Pools.SETTINGS.scheduling());
        PodRefusal refusal = PoolRefusal.of(pool, strict).orElseThrow();
        assertThat(refusal.reason()).isEqualTo(Reason.IMAGE_FORBIDDEN);
        assertThat(refusal.message())
                .startsWith("spec.template.image: elsewhere.example.org/kernel:1 is not on this installation's list");
        assertThat(PoolRefusal.of(Pools.pool("warm", 1), strict)).isEmpty();

        says(refused(view(1), refusal, false), "False ImageForbidden", "False ImageForbidden");
        says(
                refused(view(1, ready(1, MINUTE)), new PodRefusal(Reason.POD_REFUSED, "open"), true),
                "True SeatsReady",
                "False PodRefused");
    }

    @Test
    void whatHoldsUpASeatIsSaidAtOnceIfItIsKnown() {
        SandboxPoolStatus status = PoolReport.of(view(1, unschedulable(1, Duration.ofSeconds(1))));
        says(status, "False Unschedulable", "False Unschedulable");
        assertThat(message(status)).isEqualTo("No node can take the pod: 0/3 nodes are available");
        SandboxPoolStatus late = PoolReport.of(view(1, starting(1, MINUTE)));
        says(late, "False DeadlineExceeded", "False DeadlineExceeded");
        assertThat(message(late)).contains("did not start within 60 seconds");
    }

    @Test
    void aRefusalOfTheApiServerIsSaidAsLongAsSeatsAreWanted() {
        PoolMemory full = PoolMemory.NONE
                .seen(List.of(), Pools.HASH, NOW)
                .refused(new PodRefusal(Reason.QUOTA_EXCEEDED, "The API server refused the pod: exceeded quota"), NOW);
        PoolView lacking = view(2, ready(1, MINUTE));
        says(PoolReport.of(lacking.after(lacking.seats(), full)), "True SeatsReady", "False QuotaExceeded");
        PoolView content = view(1, ready(1, MINUTE));
        says(PoolReport.of(content.after(content.seats(), full)), "True SeatsReady", "True Complete");
    }

    @Test
    void anEqualSituationSaysTheSameAndKeepsItsTimes() {
        PoolView first = view(1, ready(1, MINUTE));
        SandboxPoolStatus before = PoolReport.of(first);
        first.pool().setStatus(before);
        PoolView later = new PoolView(
                first.pool(),
                first.seats(),
                first.hash(),
                first.refusal(),
                first.open(),
                first.memory(),
                first.lastClaim(),
                first.heldUntil(),
                NOW.plusSeconds(60));
        assertThat(PoolReport.of(later)).isEqualTo(before);
    }

    @Test
    void numbersMayWaitButTroubleMayNot() {
        SandboxPoolStatus complete = PoolReport.of(view(1, ready(1, MINUTE)));
        SandboxPoolStatus claimed = PoolReport.of(view(1));
        SandboxPoolStatus trouble = PoolReport.of(view(1, unschedulable(1, MINUTE)));
        assertThat(PoolReport.isNews(complete, claimed)).isFalse();
        assertThat(PoolReport.isNews(claimed, complete)).isFalse();
        assertThat(PoolReport.isNews(complete, trouble)).isTrue();
        assertThat(PoolReport.isNews(trouble, complete)).isTrue();
        assertThat(PoolReport.isNews(SandboxPoolStatus.UNSEEN, claimed)).isTrue();
        SandboxPool edited = Pools.pool("warm", 1);
        edited.getMetadata().setGeneration(2L);
        PoolView of = view(1, ready(1, MINUTE));
        assertThat(PoolReport.isNews(
                        complete,
                        PoolReport.of(new PoolView(
                                edited,
                                of.seats(),
                                of.hash(),
                                Optional.empty(),
                                Optional.empty(),
                                of.memory(),
                                Optional.empty(),
                                Optional.empty(),
                                NOW))))
                .isTrue();
    }

    @Test
    void anEventTellsOfTroubleAndOfItsEnd() {
        SandboxPoolStatus complete = PoolReport.of(view(1, ready(1, MINUTE)));
        SandboxPoolStatus starting = PoolReport.of(view(1));
        SandboxPoolStatus trouble = PoolReport.of(view(1, unschedulable(1, MINUTE)));
        assertThat(PoolReport.notice(SandboxPoolStatus.UNSEEN, starting)).isEmpty();
        assertThat(PoolReport.notice(complete, starting)).isEmpty();
        assertThat(PoolReport.notice(starting, trouble)).hasValueSatisfying(notice -> {
            assertThat(notice.warning()).isTrue();
            assertThat(notice.reason()).isEqualTo("Unschedulable");
        });
        assertThat(PoolReport.notice(trouble, trouble)).isEmpty();
        assertThat(PoolReport.notice(trouble, complete))
                .hasValueSatisfying(notice -> assertThat(notice.warning()).isFalse());
    }

    @Test
    void afterAFailureOfTheOperatorWhatWasKnownStays() {
        SandboxPool pool = Pools.pool("warm", 1);
        pool.setStatus(PoolReport.of(view(1, ready(1, MINUTE))));
        SandboxPoolStatus failed = PoolReport.failed(pool, "The operator failed", Instant.EPOCH);
        says(failed, "True SeatsReady", "Unknown OperatorError");
        assertThat(failed.readyReplicas()).isEqualTo(1);
        assertThat(PoolReport.failed(Pools.pool("new", 1), "The operator failed", NOW)
                        .conditions())
                .hasSize(1);
    }
}
