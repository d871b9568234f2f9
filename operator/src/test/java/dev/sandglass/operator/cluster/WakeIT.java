package dev.sandglass.operator.cluster;

import static dev.sandglass.api.ConditionType.READY;
import static dev.sandglass.api.ConditionType.SUSPENDED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.TestNamespace;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An idle sandbox is started by nothing but an annotation, of which no generation tells. */
class WakeIT {

    private static final Duration SOON = Duration.ofSeconds(90);
    private static final Map<String, String> SHORT = Map.of("OPERATOR_IDLE_TIMEOUT", "3s");
    private static final SandboxSpec LONG = SandboxSpec.DEFAULT.withIdleTimeout("10m");

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    /** Idle by the installation's time, and then with a longer one of its own, lest it falls asleep again. */
    private String asleep() {
        namespace.create("sleeper", SandboxSpec.DEFAULT);
        namespace.await("sleeper", SOON, WakeIT::idle);
        namespace.edit("sleeper", LONG);
        Sandbox edited = namespace.await("sleeper", SOON, sandbox -> sandbox.getMetadata()
                .getGeneration()
                .equals(sandbox.observed().observedGeneration()));
        assertThat(idle(edited)).as("an edit wakes nobody").isTrue();
        return Objects.requireNonNull(edited.observed().suspendedAt());
    }

    private void wake(String sleep) {
        namespace.again(() -> namespace
                .admin
                .resources(Sandbox.class)
                .inNamespace(namespace.name)
                .withName("sleeper")
                .edit(sandbox -> {
                    sandbox.getMetadata().getAnnotations().put(SandboxLabels.WAKE, sleep);
                    return sandbox;
                }));
    }

    private void runsAgain() {
        SandboxStatus status = namespace
                .await("sleeper", SOON, sandbox -> sandbox.observed().holds(READY))
                .observed();
        assertThat(status.incarnation()).isEqualTo(2);
        assertThat(status.suspendedAt()).isNull();
    }

    private static boolean idle(Sandbox sandbox) {
        return sandbox.observed().holds(SUSPENDED)
                && sandbox.observed().reason(SUSPENDED).equals(Optional.of(Reason.IDLE));
    }

    @Test
    void atOnce() {
        try (TestNamespace.Running _ = namespace.operator(SHORT)) {
            wake(asleep());

            runsAgain();
        }
    }

    /** Two edits in one, as far as the next operator sees. */
    @Test
    void andWhileNoOperatorRuns() {
        String sleep;
        try (TestNamespace.Running _ = namespace.operator(SHORT)) {
            sleep = asleep();
        }
        wake("something else");
        wake(sleep);
        try (TestNamespace.Running _ = namespace.operator(SHORT)) {
            runsAgain();
        }
    }
}
