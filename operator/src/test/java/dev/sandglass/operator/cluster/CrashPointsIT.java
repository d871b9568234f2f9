package dev.sandglass.operator.cluster;

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
import dev.sandglass.operator.BeyondNamespace;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.http.Interceptor;
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

    private static final Duration SOON = Duration.ofSeconds(90);
    private static final Duration LITTLE = Duration.ofSeconds(1);
    private static final String NAME = "crash";
    private static final String TRUSTED_CA_FILE = "TRUSTED_CA_FILE";

    /** What the sandbox is when the operator that dies begins. */
    private enum Before {
        NEW,
        /** In a namespace that nobody prepared. */
        NEW_BY_LABEL,
        /** New, and its name was another's that left its files. */
        HEIR,
        RUNNING,
        /** Running, with a workspace that may grow. */
        STORED,
        /** Running, where the installation has authorities of its own. */
        TRUSTING,
        STOPPED,
        /** Stopped, with a workspace that may grow. */
        STOPPED_STORED,
        EVICTED;

        private boolean hasNoPod() {
            return this == NEW || this == NEW_BY_LABEL || this == HEIR || this == STOPPED || this == EVICTED;
        }
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
    private static final SandboxSpec STORED = workspace("64Mi", false);
    private static final SandboxSpec GROWN = workspace("128Mi", false);
    private static final SandboxSpec GROWN_STOPPED = GROWN.withSuspended(true);
    private static final SandboxSpec KEPT = workspace("64Mi", true);
    private static final SandboxSpec OPEN = PLAIN.withPorts(List.of(new SandboxPort("web", 8080)));
    private static final SandboxSpec SHORT = PLAIN.withMaxLifetime("2h");
    private static final SandboxSpec STOPPED = PLAIN.withSuspended(true);

    private static final End ASLEEP = new End.Sleeps(Reason.REQUESTED, 1);

    private static final Map<String, String> BY_LABEL =
            Map.of("OPERATOR_NAMESPACES", "none-by-name", "OPERATOR_TENANTS_BY_LABEL", "true");

    private static final List<Change> CHANGES = List.of(
            // The namespace's two policies, keys, pod, and the status.
            new Change("start", Before.NEW, PLAIN, Map.of(), 5, new End.Runs(1)),
            new Change("start with a workspace", Before.NEW, STORED, Map.of(), 6, new End.Runs(1)),
            new Change("start with authorities", Before.NEW, PLAIN, trusting("site"), 6, new End.Runs(1)),
            // The namespace's account besides.
            new Change("start by label", Before.NEW_BY_LABEL, PLAIN, BY_LABEL, 6, new End.Runs(1)),
            // Keys, pod, and the status.
            new Change("start over a kept workspace", Before.HEIR, STORED, Map.of(), 3, new End.Runs(1)),
            // The claim, and the status.
            new Change("grow its workspace", Before.STORED, GROWN, Map.of(), 2, new End.Runs(1)),
            new Change("keep its workspace", Before.STORED, KEPT, Map.of(), 2, new End.Runs(1)),
            new Change("grow asleep", Before.STOPPED_STORED, GROWN_STOPPED, Map.of(), 2, ASLEEP),
            // The ConfigMap.
            new Change("trust others", Before.TRUSTING, PLAIN, trusting("other"), 1, new End.Runs(1)),
            // The policy, and the status.
            new Change("open a port", Before.RUNNING, OPEN, Map.of(), 2, new End.Runs(1)),
            // The pod's maximum lifetime, and the status.
            new Change("shorten its life", Before.RUNNING, SHORT, Map.of(), 2, new End.Runs(1)),
            // Pod, keys, status.
            new Change("suspend", Before.RUNNING, STOPPED, Map.of(), 3, ASLEEP),
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

    private static Map<String, String> trusting(String authorities) {
        return Map.of(TRUSTED_CA_FILE, "src/test/resources/authorities/" + authorities + ".pem");
    }

    private static SandboxSpec workspace(String size, boolean keep) {
        return PLAIN.withWorkspace(new Workspace(new Quantity(size), null, keep));
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
                    node.evict(podOf(running(namespace, there, Map.of())));
                    dieAndGoOn(change, writes, namespace);
                }
            } else {
                prepare(change, namespace);
                if (change.settings().containsValue(LITTLE.toSeconds() + "s")) {
                    await("the deadline, which would be told in a write of its own before it is over")
                            .until(() -> overdue(namespace.get(NAME).observed()));
                }
                dieAndGoOn(change, writes, namespace);
            }
        }
    }

    private static void prepare(Change change, TestNamespace namespace) {
        if (change.settings().containsKey(TRUSTED_CA_FILE)) {
            namespace.grantAuthorities();
        }
        switch (change.before()) {
            case NEW -> namespace.create(NAME, change.spec());
            case NEW_BY_LABEL -> {
                new BeyondNamespace(namespace).tenantByLabel();
                namespace.create(NAME, change.spec());
            }
            case HEIR -> {
                bequeath(running(namespace, KEPT, Map.of()), namespace);
                namespace.create(NAME, change.spec());
            }
            case STORED -> {
                String growing = new BeyondNamespace(namespace).growingClass();
                running(namespace, of(growing, STORED), Map.of());
                namespace.edit(NAME, of(growing, change.spec()));
            }
            case TRUSTING -> running(namespace, change.spec(), trusting("site"));
            case STOPPED -> {
                running(namespace, PLAIN, Map.of());
                stop(namespace, PLAIN);
                namespace.edit(NAME, change.spec());
            }
            case STOPPED_STORED -> {
                String growing = new BeyondNamespace(namespace).growingClass();
                running(namespace, of(growing, STORED), Map.of());
                stop(namespace, of(growing, STORED));
                namespace.edit(NAME, of(growing, change.spec()));
            }
            case EVICTED -> throw new IllegalStateException("such a one needs a node");
            case RUNNING -> {
                running(namespace, PLAIN, Map.of());
                namespace.edit(NAME, change.spec());
            }
        }
    }

    /** With its workspace in a storage class. */
    private static SandboxSpec of(String storageClass, SandboxSpec spec) {
        Workspace workspace = Objects.requireNonNull(spec.workspace());
        return spec.withWorkspace(new Workspace(workspace.size(), storageClass, workspace.keep()));
    }

    /** Deletes a sandbox, and waits until nothing is left but what it keeps. */
    private static void bequeath(Sandbox sandbox, TestNamespace namespace) {
        namespace.admin.resource(sandbox).delete();
        await().atMost(SOON).until(() -> namespace.pods().isEmpty() && !namespace.secretExists(sandbox, 1));
    }

    private static void stop(TestNamespace namespace, SandboxSpec spec) {
        namespace.edit(NAME, spec.withSuspended(true));
        try (TestNamespace.Running healthy = namespace.operator(Map.of())) {
            namespace.await(NAME, SOON, sandbox -> sandbox.observed().holds(SUSPENDED));
            await().atMost(SOON).until(() -> namespace.pods().isEmpty());
            assertThat(healthy.requests("DELETE", "pods"))
                    .as("once, or again before the watch has told of it")
                    .isPositive();
        }
    }

    private static boolean overdue(SandboxStatus status) {
        String begun = status.holds(SUSPENDED) ? status.suspendedAt() : status.startedAt();
        return Instant.now()
                .isAfter(Instant.parse(Objects.requireNonNull(begun)).plus(LITTLE));
    }

    /** Makes the sandbox with an operator that lives until it runs. */
    private static Sandbox running(TestNamespace namespace, SandboxSpec spec, Map<String, String> settings) {
        try (TestNamespace.Running healthy = namespace.operator(settings)) {
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
        Belongings belongings = new Belongings(namespace);
        List<String> claims = belongings.uidsOfClaims();
        Interceptor blinkers = new BeyondNamespace(namespace).blinkers();
        die(change, writes, namespace, blinkers);
        try (TestNamespace.Running next = namespace.operator(change.settings(), blinkers)) {
            await().atMost(SOON).untilAsserted(() -> {
                ended(change.end(), namespace);
                belongings.trust(Optional.ofNullable(change.settings().get(TRUSTED_CA_FILE)));
                belongings.haveTheWorkspaceOf(change.spec(), change.before() == Before.HEIR);
            });
            assertThat(belongings.uidsOfClaims()).as("no files are lost").containsAll(claims);
            int slow = change.before().hasNoPod() && change.end() instanceof End.Runs ? 1 : 0;
            double stale = next.keysThatWereThere();
            double again = next.deletionsOfNothing() + next.deletionsOfWhatEnds();
            assertThat(next.writes() - next.events() - again)
                    .as(
                            "%s after %d writes: no more than the whole change takes; a slow start is told, keys of no pod go",
                            change, writes)
                    .isLessThanOrEqualTo(change.writes() + slow + stale);
        }
    }

    /**
     * One of its two controllers may come to its end before the other one watches, or before what the other one saw is
     * with the framework's threads: then the operator does not begin, whatever the framework, its threads or the client
     * throw for that. A patience that is over is none of it: then the process is not dead.
     */
    private static void die(Change change, int writes, TestNamespace namespace, Interceptor blinkers) {
        MortalApi death = new MortalApi(writes);
        try (TestNamespace.Running dying = namespace.operator(change.settings(), blinkers, death)) {
            await().atMost(SOON).until(death::dead);
            assertThat(dying.writes() - dying.events()).isLessThanOrEqualTo(writes);
        } catch (RuntimeException cannotBegin) {
            assertThat(death.dead()).as(cannotBegin.getMessage()).isTrue();
        }
    }

    private static void ended(End end, TestNamespace namespace) {
        Belongings belongings = new Belongings(namespace);
        switch (end) {
            case End.Runs runs -> {
                Sandbox sandbox = namespace.get(NAME);
                assertThat(sandbox.observed().holds(READY)).isTrue();
                assertThat(sandbox.observed().incarnation()).isEqualTo(runs.incarnation());
                assertThat(sandbox.observed().observedGeneration())
                        .isEqualTo(sandbox.getMetadata().getGeneration());
                assertThat(SandboxContainer.saysLost(namespace.pods().getFirst())
                                .isPresent())
                        .as("a pod that follows another tells of it")
                        .isEqualTo(runs.incarnation() > 1);
                belongings.areThoseOfARunning(sandbox);
            }
            case End.Sleeps sleeps -> {
                Sandbox sandbox = namespace.get(NAME);
                assertThat(sandbox.observed().holds(SUSPENDED)).isTrue();
                assertThat(sandbox.observed().reason(SUSPENDED)).isEqualTo(Optional.of(sleeps.cause()));
                assertThat(sandbox.observed().lost()).isEqualTo(sleeps.cause().value());
                assertThat(sandbox.observed().incarnation()).isEqualTo(sleeps.incarnation());
                assertThat(sandbox.observed().observedGeneration())
                        .isEqualTo(sandbox.getMetadata().getGeneration());
                belongings.areThoseOfASuspended(sandbox);
            }
            case End.Gone gone -> belongings.areNobodys();
        }
    }
}
