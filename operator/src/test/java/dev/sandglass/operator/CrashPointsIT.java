package dev.sandglass.operator;

import static dev.sandglass.api.ConditionType.READY;
import static dev.sandglass.api.ConditionType.SUSPENDED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.Workspace;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The operator may die between any two of its writes, whatever it is about: the next one ends it in the same way. */
class CrashPointsIT {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration LITTLE = Duration.ofSeconds(1);
    private static final String NAME = "crash";

    /** What the sandbox is when the operator that dies begins. */
    private enum Before {
        NEW,
        RUNNING,
        STOPPED,
        EVICTED
    }

    /** What shall become of it; the number is that of its newest pod. */
    private sealed interface End {

        record Runs(int incarnation) implements End {}

        record Sleeps(Reason cause, int incarnation) implements End {}

        record Gone() implements End {}
    }

    /**
     * One change of a sandbox.
     *
     * @param spec what is wanted of it when the operator that dies begins
     * @param settings of that operator and of the next
     * @param writes how many the change takes; the operator dies after none of them, after one, and so on
     */
    private record Change(
            String name, Before before, SandboxSpec spec, Map<String, String> settings, int writes, End end) {

        @Override
        public String toString() {
            return name;
        }
    }

    private static final SandboxSpec PLAIN = SandboxSpec.DEFAULT;
    private static final SandboxSpec STORED = PLAIN.withWorkspace(new Workspace(new Quantity("64Mi"), null, null));
    private static final SandboxSpec OPEN = PLAIN.withPorts(List.of(new SandboxPort("web", 8080)));
    private static final SandboxSpec SHORT = PLAIN.withMaxLifetime("2h");
    private static final SandboxSpec STOPPED = PLAIN.withSuspended(true);

    private static final List<Change> CHANGES = List.of(
            // The namespace's two policies, keys, pod, and the status.
            new Change("start", Before.NEW, PLAIN, Map.of(), 5, new End.Runs(1)),
            new Change("start with a workspace", Before.NEW, STORED, Map.of(), 6, new End.Runs(1)),
            // The policy, and the status.
            new Change("open a port", Before.RUNNING, OPEN, Map.of(), 2, new End.Runs(1)),
            // The pod's maximum age, and the status.
            new Change("shorten its life", Before.RUNNING, SHORT, Map.of(), 2, new End.Runs(1)),
            // Pod, keys, status.
            new Change("suspend", Before.RUNNING, STOPPED, Map.of(), 3, new End.Sleeps(Reason.REQUESTED, 1)),
            new Change("idle", Before.RUNNING, PLAIN, soon("IDLE_TIMEOUT"), 3, new End.Sleeps(Reason.IDLE, 1)),
            new Change(
                    "expiry", Before.RUNNING, PLAIN, soon("MAX_LIFETIME"), 3, new End.Sleeps(Reason.MAX_LIFETIME, 1)),
            // The former keys, the new ones, pod, and the status twice.
            new Change("resume", Before.STOPPED, PLAIN, Map.of(), 5, new End.Runs(2)),
            new Change("replace", Before.EVICTED, PLAIN, Map.of(), 6, new End.Runs(2)),
            new Change("forget", Before.STOPPED, STOPPED, soon("RETENTION"), 1, new End.Gone()));

    private static Map<String, String> soon(String deadline) {
        return Map.of("OPERATOR_" + deadline, LITTLE.toSeconds() + "s");
    }

    static Stream<Arguments> crashes() {
        return CHANGES.stream().flatMap(change -> IntStream.range(0, change.writes())
                .mapToObj(writes -> Arguments.of(change, writes)));
    }

    @ParameterizedTest(name = "{0} after {1} writes")
    @MethodSource("crashes")
    void anOperatorThatDiesIsFollowedByOneThatFinishes(Change change, int writes) {
        try (TestNamespace namespace = new TestNamespace()) {
            if (change.before() == Before.EVICTED) {
                try (FakeNode node = new FakeNode(namespace, 1)) {
                    SandboxSpec there = change.spec().withRuntimeClassName(FakeNode.runtimeClass(namespace));
                    node.evict(podOf(running(namespace, there)));
                    dieAndGoOn(change, writes, namespace);
                }
            } else {
                prepare(change, namespace);
                if (!change.settings().isEmpty()) {
                    await("the deadline, which would be told in a write of its own before it is over")
                            .until(() -> overdue(namespace.get(NAME).observed()));
                }
                dieAndGoOn(change, writes, namespace);
            }
        }
    }

    private static void prepare(Change change, TestNamespace namespace) {
        if (change.before() == Before.NEW) {
            namespace.create(NAME, change.spec());
            return;
        }
        running(namespace, PLAIN);
        if (change.before() == Before.STOPPED) {
            namespace.edit(NAME, STOPPED);
            try (TestNamespace.Running healthy = namespace.operator(Map.of())) {
                namespace.await(NAME, SOON, sandbox -> sandbox.observed().holds(SUSPENDED));
                await().atMost(SOON).until(() -> namespace.pods().isEmpty());
                assertThat(healthy.requests("DELETE", "pods"))
                        .as("once, or again before the watch has told of it")
                        .isPositive();
            }
        }
        namespace.edit(NAME, change.spec());
    }

    private static boolean overdue(SandboxStatus status) {
        String begun = status.holds(SUSPENDED) ? status.suspendedAt() : status.startedAt();
        return Instant.now()
                .isAfter(Instant.parse(Objects.requireNonNull(begun)).plus(LITTLE));
    }

    /** Makes the sandbox with an operator that lives until it runs. */
    private static Sandbox running(TestNamespace namespace, SandboxSpec spec) {
        try (TestNamespace.Running healthy = namespace.operator(Map.of())) {
            namespace.create(NAME, spec);
            Sandbox running =
                    namespace.await(NAME, SOON, sandbox -> sandbox.observed().holds(READY));
            assertThat(healthy.requests("POST", "pods")).isEqualTo(1);
            return running;
        }
    }

    private static String podOf(Sandbox sandbox) {
        return Objects.requireNonNull(sandbox.observed().podName());
    }

    private static void dieAndGoOn(Change change, int writes, TestNamespace namespace) {
        MortalApi death = new MortalApi(writes);
        try (TestNamespace.Running dying = namespace.operator(change.settings(), death)) {
            await().atMost(SOON).until(death::dead);
            assertThat(dying.writes() - dying.events()).isLessThanOrEqualTo(writes);
        }
        try (TestNamespace.Running next = namespace.operator(change.settings())) {
            await().atMost(SOON).untilAsserted(() -> ended(change.end(), namespace));
            int slow = change.before() == Before.NEW ? 1 : 0;
            assertThat(next.writes() - next.events() - next.deletionsOfNothing())
                    .as("no more than the whole change takes; a slow first start is told of while it goes on")
                    .isLessThanOrEqualTo(change.writes() + slow);
        }
    }

    private static void ended(End end, TestNamespace namespace) {
        Belongings belongings = new Belongings(namespace);
        switch (end) {
            case End.Runs runs -> {
                Sandbox sandbox = namespace.get(NAME);
                assertThat(sandbox.observed().holds(READY)).isTrue();
                assertThat(sandbox.observed().incarnation()).isEqualTo(runs.incarnation());
                belongings.areThoseOfARunning(sandbox);
            }
            case End.Sleeps sleeps -> {
                Sandbox sandbox = namespace.get(NAME);
                assertThat(sandbox.observed().holds(SUSPENDED)).isTrue();
                assertThat(sandbox.observed().reason(SUSPENDED)).isEqualTo(Optional.of(sleeps.cause()));
                assertThat(sandbox.observed().incarnation()).isEqualTo(sleeps.incarnation());
                belongings.areThoseOfASuspended(sandbox);
            }
            case End.Gone gone -> belongings.areNobodys();
        }
    }
}
