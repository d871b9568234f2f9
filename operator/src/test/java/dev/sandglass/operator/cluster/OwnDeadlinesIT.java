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
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Deadlines that a sandbox has of its own, and edits of them, against a real API server and a real node. */
class OwnDeadlinesIT {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration LATER = Duration.ofSeconds(90);

    private static TestNamespace namespace;
    private static TestNamespace.Running operator;

    @BeforeAll
    static void start() {
        namespace = new TestNamespace();
        operator = namespace.operator(Map.of());
    }

    @AfterAll
    static void stop() {
        operator.close();
        namespace.close();
    }

    private static boolean ready(Sandbox sandbox) {
        return sandbox.observed().holds(READY);
    }

    private static boolean is(Sandbox sandbox, ConditionType type, Reason reason) {
        return sandbox.observed().reason(type).equals(Optional.of(reason));
    }

    /** The age at which the node ends the sandbox's pod, in seconds. */
    private static long ageKnownToTheNode(Sandbox sandbox) {
        return namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withName(sandbox.observed().podName())
                .require()
                .getSpec()
                .getActiveDeadlineSeconds();
    }

    private static String expiry(Sandbox sandbox, Duration age) {
        return Instant.parse(sandbox.observed().startedAt()).plus(age).toString();
    }

    @Test
    void aShorterLifeReachesThePodAtOnceAndALongerOneWaits() {
        namespace.create("shorter", SandboxSpec.DEFAULT);
        Sandbox before = namespace.await("shorter", SOON, OwnDeadlinesIT::ready);
        assertThat(ageKnownToTheNode(before)).isEqualTo(28_800);
        double written = operator.requests("PATCH", "pods");

        namespace.edit("shorter", SandboxSpec.DEFAULT.withMaxLifetime("1h"));
        Sandbox shorter = namespace.await("shorter", SOON, sandbox -> expiry(before, Duration.ofHours(1))
                .equals(sandbox.observed().expiresAt()));
        assertThat(ageKnownToTheNode(shorter)).isEqualTo(3600);
        assertThat(is(shorter, READY, Reason.RUNNING)).isTrue();

        namespace.edit("shorter", SandboxSpec.DEFAULT.withMaxLifetime("9h"));
        Sandbox longer = namespace.await("shorter", SOON, sandbox -> is(sandbox, READY, Reason.UPDATE_PENDING));
        assertThat(longer.observed().expiresAt()).isEqualTo(expiry(before, Duration.ofHours(1)));
        assertThat(ageKnownToTheNode(longer)).isEqualTo(3600);
        assertThat(longer.observed().podName()).isEqualTo(before.observed().podName());
        assertThat(operator.requests("PATCH", "pods") - written).isEqualTo(1);
    }

    @Test
    void itsOwnIdleTimeSuspendsIt() {
        namespace.create("idle", SandboxSpec.DEFAULT.withIdleTimeout("10s"));

        Sandbox asleep = namespace.await("idle", LATER, sandbox -> is(sandbox, SUSPENDED, Reason.IDLE));

        assertThat(asleep.wanted().suspended()).isFalse();
    }

    @Test
    void itsOwnMaximumAgeSuspendsIt() {
        namespace.create("old", SandboxSpec.DEFAULT.withMaxLifetime("10s"));

        Sandbox asleep = namespace.await("old", LATER, sandbox -> is(sandbox, SUSPENDED, Reason.MAX_LIFETIME));

        assertThat(asleep.observed().podName()).isNull();
    }

    @Test
    void itsOwnRetentionForgetsIt() {
        Sandbox sandbox = namespace.create(
                "forgotten", SandboxSpec.DEFAULT.withRetention("10s").withSuspended(true));
        namespace.await("forgotten", SOON, found -> found.observed().holds(SUSPENDED));

        await().atMost(LATER).until(() -> namespace.admin.resource(sandbox).get() == null);
    }

    @Test
    void aRuntimeClassThatTheClusterLacksIsTold() {
        namespace.create("classless", SandboxSpec.DEFAULT.withRuntimeClassName("no-such-class"));

        Sandbox refused = namespace.await("classless", SOON, sandbox -> is(sandbox, READY, Reason.POD_REFUSED));

        assertThat(refused.observed().condition(READY).orElseThrow().getMessage())
                .contains("no-such-class");
    }

    @Test
    void aRuntimeClassThatIsNotOnTheListIsRefused() {
        try (TestNamespace strict = new TestNamespace();
                TestNamespace.Running theirs = strict.operator(Map.of("OPERATOR_ALLOWED_RUNTIME_CLASSES", ""))) {
            strict.create("weaker", SandboxSpec.DEFAULT.withRuntimeClassName("runc"));

            Sandbox refused =
                    strict.await("weaker", SOON, sandbox -> is(sandbox, READY, Reason.RUNTIME_CLASS_FORBIDDEN));

            assertThat(refused.observed().condition(READY).orElseThrow().getMessage())
                    .contains("spec.runtimeClassName: runc", "sandbox.allowedRuntimeClasses");
            assertThat(theirs.requests("POST", "pods")).isZero();
        }
    }

    @Test
    void anotherRuntimeClassThanTheForcedOneIsRefused() {
        try (TestNamespace strict = new TestNamespace();
                TestNamespace.Running theirs = strict.operator(Map.of("OPERATOR_RUNTIME_CLASS_NAME", "gvisor"))) {
            strict.create("forced", SandboxSpec.DEFAULT.withRuntimeClassName("runc"));

            Sandbox refused =
                    strict.await("forced", SOON, sandbox -> is(sandbox, READY, Reason.RUNTIME_CLASS_FORBIDDEN));

            assertThat(refused.observed().condition(READY).orElseThrow().getMessage())
                    .contains("runs every sandbox with gvisor");
            assertThat(theirs.requests("POST", "pods")).isZero();
        }
    }
}
