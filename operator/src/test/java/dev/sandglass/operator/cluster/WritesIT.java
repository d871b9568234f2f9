package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How much the operator writes. */
class WritesIT {

    private static final Duration SOON = Duration.ofSeconds(60);

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    @Test
    void aStartTakesThreeWritesOrFourIfItIsSlowAndNothingIsWrittenWithoutNeed() {
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            for (String name : new String[] {"first", "second"}) {
                namespace.create(name, SandboxSpec.DEFAULT);
                namespace.await(name, SOON, WritesIT::ready);
            }
            // The watch may tell of the last write before its answer is counted.
            Awaitility.await().until(() -> operator.requests("PUT", "sandboxes/status") >= 2);

            assertThat(operator.writes())
                    .as("three or four each, and the namespace's two policies")
                    .isBetween(8.0, 10.0);
            assertThat(operator.requests("POST", "networkpolicies")).isEqualTo(2);
            assertThat(operator.requests("POST", "secrets")).isEqualTo(2);
            assertThat(operator.requests("POST", "pods")).isEqualTo(2);
            assertThat(operator.requests("GET", "secrets")).isZero();
        }
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            // A third sandbox shows when the newcomer has gone through what it found.
            namespace.create("third", SandboxSpec.DEFAULT);
            namespace.await("third", SOON, WritesIT::ready);
            assertThat(next.writes()).isLessThanOrEqualTo(4);
        }
    }

    /** Its node never says a word of the pod, which is no trouble yet. */
    @Test
    void aSlowStartIsToldOnceAndNotBeforeItIsSlow() {
        try (TestNamespace.Running operator = namespace.operator(Map.of());
                FakeNode node = new FakeNode(namespace, 1)) {
            node.die();
            namespace.create("slow", SandboxSpec.DEFAULT.withRuntimeClassName(FakeNode.runtimeClass(namespace)));

            Sandbox told =
                    namespace.await("slow", SOON, sandbox -> sandbox.observed().podName() != null);

            Instant made =
                    Instant.parse(namespace.pods().getFirst().getMetadata().getCreationTimestamp());
            assertThat(told.observed().reason(ConditionType.READY)).contains(Reason.STARTING);
            assertThat(Instant.parse(told.observed()
                            .condition(ConditionType.READY)
                            .orElseThrow()
                            .getLastTransitionTime()))
                    .isAfterOrEqualTo(made.plusSeconds(2));
            Awaitility.await().until(() -> operator.requests("PUT", "sandboxes/status") == 1);
        }
    }

    private static boolean ready(Sandbox sandbox) {
        return sandbox.observed().holds(ConditionType.READY);
    }
}
