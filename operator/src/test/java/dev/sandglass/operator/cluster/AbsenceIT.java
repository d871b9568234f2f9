package dev.sandglass.operator.cluster;

import static dev.sandglass.api.ConditionType.READY;
import static dev.sandglass.api.ConditionType.SUSPENDED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What happens while no operator runs, and what the next one makes of it. */
class AbsenceIT {

    private static final Duration SOON = Duration.ofMinutes(2);
    private static final String NAME = "alone";

    /** Lives long enough to be seen running on a busy node. */
    private static final SandboxSpec BRIEF = SandboxSpec.DEFAULT.withMaxLifetime("30s");

    private TestNamespace namespace;
    private Belongings belongings;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        belongings = new Belongings(namespace);
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    /** Makes a sandbox with an operator that ends as soon as this holds. */
    private Sandbox leftBehind(SandboxSpec spec, Predicate<Sandbox> settled) {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create(NAME, spec);
            Sandbox sandbox = namespace.await(NAME, SOON, settled);
            // The watch may tell of the last write before its answer is counted.
            await().atMost(SOON).until(() -> operator.requests("PUT", "sandboxes/status") > 0);
            return sandbox;
        }
    }

    private Sandbox leftRunning(SandboxSpec spec) {
        return leftBehind(spec, AbsenceIT::ready);
    }

    private Sandbox awaitReady(int incarnation) {
        return namespace.await(
                NAME,
                SOON,
                sandbox -> ready(sandbox)
                        && Integer.valueOf(incarnation)
                                .equals(sandbox.observed().incarnation()));
    }

    private static boolean ready(Sandbox sandbox) {
        return sandbox.observed().holds(READY);
    }

    private static boolean is(Sandbox sandbox, ConditionType type, Reason reason) {
        return sandbox.observed().reason(type).equals(Optional.of(reason));
    }

    /** The one pod that there is. */
    private Pod pod() {
        List<Pod> pods = namespace.pods();
        assertThat(pods).hasSize(1);
        return pods.getFirst();
    }

    @Test
    void whatADeletedSandboxHadGoesWithoutAnOperatorAndIsNotMadeAgain() {
        leftRunning(SandboxSpec.DEFAULT);

        namespace.admin.resource(namespace.get(NAME)).delete();

        await().atMost(SOON).untilAsserted(belongings::areNobodys);
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            // Another sandbox shows when the newcomer has gone through what it found.
            namespace.create("other", SandboxSpec.DEFAULT);
            Sandbox other = namespace.await("other", SOON, AbsenceIT::ready);
            belongings.areThoseOfARunning(other);
            assertThat(next.requests("POST", "pods")).isEqualTo(1);
        }
    }

    @Test
    void aSandboxThatWasDeletedAndMadeAgainStartsFromOne() {
        Sandbox former = leftRunning(SandboxSpec.DEFAULT);
        namespace.admin.resource(former).delete();
        namespace.create(NAME, SandboxSpec.DEFAULT);

        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            Sandbox fresh = namespace.await(NAME, SOON, AbsenceIT::ready);

            assertThat(fresh.observed().incarnation()).isEqualTo(1);
            assertThat(fresh.observed().podName())
                    .isNotEqualTo(former.observed().podName());
            await().atMost(SOON).untilAsserted(() -> belongings.areThoseOfARunning(fresh));
            assertThat(next.requests("POST", "pods")).isEqualTo(1);
        }
    }

    @Test
    void aSuspensionAndThenAResumptionAreFollowed() {
        leftRunning(SandboxSpec.DEFAULT);
        namespace.edit(NAME, SandboxSpec.DEFAULT.withSuspended(true));
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            Sandbox asleep = namespace.await(NAME, SOON, sandbox -> is(sandbox, SUSPENDED, Reason.REQUESTED));
            await().atMost(SOON).untilAsserted(() -> belongings.areThoseOfASuspended(asleep));
            assertThat(next.requests("DELETE", "pods"))
                    .as("once, or again before the watch has told of it")
                    .isPositive();
        }

        namespace.edit(NAME, SandboxSpec.DEFAULT);
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            Sandbox awake = awaitReady(2);
            belongings.areThoseOfARunning(awake);
            assertThat(next.requests("POST", "pods")).isEqualTo(1);
        }
    }

    @Test
    void aSuspensionThatWasTakenBackMeanwhileDidNotHappen() {
        Sandbox before = leftRunning(SandboxSpec.DEFAULT);
        namespace.edit(NAME, SandboxSpec.DEFAULT.withSuspended(true));
        long taken = namespace.edit(NAME, SandboxSpec.DEFAULT).getMetadata().getGeneration();

        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            Sandbox after = namespace.await(NAME, SOON, sandbox -> Long.valueOf(taken)
                    .equals(sandbox.observed().observedGeneration()));
            assertThat(ready(after)).isTrue();
            assertThat(after.observed().podName()).isEqualTo(before.observed().podName());
            assertThat(next.requests("DELETE", "pods")).isZero();
        }
    }

    @Test
    void theNodeEndsAPodThatExpiresAndTheNextOperatorSuspendsItsSandbox() {
        leftRunning(BRIEF);

        await().atMost(SOON).until(() -> "Failed".equals(pod().getStatus().getPhase()));
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            isSuspendedForItsAge(next);
        }
    }

    @Test
    void aPodThatExpiredAndWasClearedAwayHasNoSuccessor() {
        Sandbox sandbox = leftRunning(BRIEF);

        await().atMost(SOON).until(() -> past(sandbox));
        namespace.admin.resource(pod()).delete();
        await().atMost(SOON).until(() -> namespace.pods().isEmpty());
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            isSuspendedForItsAge(next);
        }
    }

    private void isSuspendedForItsAge(TestNamespace.Running operator) {
        Sandbox asleep = namespace.await(NAME, SOON, sandbox -> is(sandbox, SUSPENDED, Reason.MAX_LIFETIME));
        assertThat(asleep.observed().incarnation()).isEqualTo(1);
        await().atMost(SOON).untilAsserted(() -> belongings.areThoseOfASuspended(asleep));
        assertThat(operator.requests("POST", "pods")).isZero();
    }

    private static boolean past(Sandbox sandbox) {
        return Instant.now()
                .isAfter(Instant.parse(Objects.requireNonNull(sandbox.observed().expiresAt())));
    }

    @Test
    void aSandboxWhoseRetentionPassedIsDeletedWithAllThatItHad() {
        Sandbox asleep =
                leftBehind(SandboxSpec.DEFAULT.withSuspended(true).withRetention("10s"), sandbox -> sandbox.observed()
                        .holds(SUSPENDED));

        await().atMost(SOON).until(() -> past(asleep));
        assertThat(namespace.get(NAME).getMetadata().getUid())
                .isEqualTo(asleep.getMetadata().getUid());
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            await().atMost(SOON).until(() -> namespace.admin.resource(asleep).get() == null);
            assertThat(next.requests("POST", "pods")).isZero();
        }
    }

    @Test
    void aPodThatWasEvictedIsReplaced() {
        leftRunning(SandboxSpec.DEFAULT);

        assertThat(namespace.admin.pods().resource(pod()).evict()).isTrue();
        await().atMost(SOON).until(() -> namespace.pods().isEmpty());
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            Sandbox back = awaitReady(2);
            await().atMost(SOON).untilAsserted(() -> belongings.areThoseOfARunning(back));
            assertThat(next.requests("POST", "pods")).isEqualTo(1);
        }
    }
}
