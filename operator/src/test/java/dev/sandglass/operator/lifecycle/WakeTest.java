package dev.sandglass.operator.lifecycle;

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
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who has nothing but kubectl ends a sleep by the annotation that names it. */
class WakeTest {

    private static final String SLEEP = "2026-03-01T18:00:00.123Z";
    private static final Instant NOW = Instant.parse("2026-03-01T19:00:00Z");
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    private static Sandbox asleep(Reason cause, String wake) {
        Condition suspended = new ConditionBuilder()
                .withType(ConditionType.SUSPENDED.value())
                .withStatus("True")
                .withReason(cause.value())
                .build();
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        sandbox.getMetadata().setGeneration(1L);
        sandbox.getMetadata().setAnnotations(Map.of(SandboxLabels.WAKE, wake));
        sandbox.setSpec(SandboxSpec.DEFAULT);
        sandbox.setStatus(
                new SandboxStatus(1L, List.of(suspended), null, null, 3, null, SLEEP, null, null, null, null));
        return sandbox;
    }

    private static Decision decide(Sandbox sandbox, Optional<PodRefusal> refusal) {
        return Lifecycle.decide(
                new Observed(sandbox, Optional.empty(), Optional.empty(), refusal, true, NOW), DEADLINES);
    }

    @ParameterizedTest
    @EnumSource(names = {"IDLE", "MAX_LIFETIME"})
    void theSleepThatItNamesEnds(Reason cause) {
        Sandbox sandbox = asleep(cause, SLEEP);

        assertThat(decide(sandbox, Optional.empty())).isEqualTo(new Decision.Resume(3, 4));
        assertThat(decide(sandbox, Optional.of(new PodRefusal(Reason.IMAGE_FORBIDDEN, "no"))))
                .as("wanted, and told why it does not run")
                .isEqualTo(new Decision.Wait(Optional.empty()));
    }

    /** An annotation stays where it was put: it must not end the sleeps that follow, nor those before. */
    @ParameterizedTest
    @ValueSource(strings = {"", "true", "2026-03-01T18:00:00Z", "2026-03-01T17:00:00.123Z", "2026-03-01T18:00:00.124Z"})
    void noOtherSleepEnds(String wake) {
        assertThat(decide(asleep(Reason.IDLE, wake), Optional.empty())).isInstanceOf(Decision.Sleep.class);
    }

    @Test
    void whoIsSuspendedByOrderStaysSo() {
        Sandbox sandbox = asleep(Reason.REQUESTED, SLEEP);
        sandbox.setSpec(SandboxSpec.DEFAULT.withSuspended(true));

        assertThat(decide(sandbox, Optional.empty())).isInstanceOf(Decision.Sleep.class);
    }

    @Test
    void theConditionSaysHow() {
        Observed seen =
                new Observed(asleep(Reason.IDLE, ""), Optional.empty(), Optional.empty(), Optional.empty(), true, NOW);
        SandboxStatus status =
                StatusReport.of(seen, decide(seen.sandbox(), Optional.empty()), Optional.empty(), DEADLINES);

        assertThat(status.condition(ConditionType.SUSPENDED))
                .hasValueSatisfying(condition -> assertThat(condition.getMessage())
                        .endsWith(
                                "; the next use starts it, or: kubectl annotate sandboxes.sandglass.dev demo --namespace tenant-a"
                                        + " --overwrite sandglass.dev/wake=" + SLEEP));
    }
}
