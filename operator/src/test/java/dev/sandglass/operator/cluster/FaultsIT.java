package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.cluster.FaultyApi.Harm;
import dev.sandglass.operator.cluster.FaultyApi.Request;
import dev.sandglass.testing.TestCluster;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** An operator whose API server refuses, dawdles, loses answers and breaks watches: in the end all is as it should be. */
class FaultsIT {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Harm NONE = new Harm.None();
    private static final Harm CONFLICT = new Harm.Refuse(409, "Conflict");
    private static final Harm TOO_MANY = new Harm.Refuse(429, "TooManyRequests");
    private static final Harm BROKEN = new Harm.Refuse(500, "InternalError");
    private static final Harm TOO_OLD = new Harm.Refuse(410, "Expired");
    private static final Harm EXPIRED = new Harm.Expire();
    private static final Harm LOST = new Harm.LoseAnswer();
    private static final Harm LATE = new Harm.Delay(Duration.ofMillis(300));

    private static final List<Harm> HARMS = List.of(CONFLICT, TOO_MANY, BROKEN, LOST, LATE);
    private static final List<Harm> HARMS_OF_WATCHES = List.of(EXPIRED, TOO_OLD);

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    static Stream<Harm> harms() {
        return HARMS.stream();
    }

    /** Every write fails once, and then once more: a start, a suspension and a resumption take it. */
    @ParameterizedTest
    @MethodSource("harms")
    void eachWriteMeetsTheSameHarmTwice(Harm harm) throws Exception {
        Map<String, Integer> met = new ConcurrentHashMap<>();
        Function<Request, Harm> twice = request ->
                request.writes() && met.merge(request.method() + request.target(), 1, Integer::sum) <= 2 ? harm : NONE;
        try (FaultyApi api = new FaultyApi(TestCluster.config(), twice);
                TestNamespace.Running operator = namespace.operatorThrough(api)) {
            namespace.create("harmed", SandboxSpec.DEFAULT);
            namespace.await("harmed", SOON, FaultsIT::ready);
            namespace.edit("harmed", SandboxSpec.DEFAULT.withSuspended(true));
            namespace.await("harmed", SOON, FaultsIT::suspended);
            namespace.edit("harmed", SandboxSpec.DEFAULT);
            namespace.await("harmed", SOON, FaultsIT::ready);

            assertThat(api.count(harm.getClass())).isGreaterThanOrEqualTo(8);
            assertThat(operator.writes()).isGreaterThanOrEqualTo(8);
            await().atMost(SOON).untilAsserted(this::nothingIsLeftOver);
        }
    }

    /** Only what could not be done is done again: a pod without its keys would never start. */
    @ParameterizedTest
    @CsvSource({"networkpolicies", "secrets", "pods"})
    void aConflictIsNoObjectThatExists(String resource) throws Exception {
        AtomicBoolean met = new AtomicBoolean();
        Function<Request, Harm> once = request ->
                request.method().equals("POST") && request.target().contains("/" + resource) && !met.getAndSet(true)
                        ? CONFLICT
                        : NONE;
        try (FaultyApi api = new FaultyApi(TestCluster.config(), once);
                TestNamespace.Running operator = namespace.operatorThrough(api)) {
            namespace.create("conflict", SandboxSpec.DEFAULT);
            namespace.await("conflict", SOON, FaultsIT::ready);

            assertThat(api.count(Harm.Refuse.class)).isEqualTo(1);
            assertThat(operator.requests("POST", resource)).isGreaterThanOrEqualTo(2);
        }
    }

    @Test
    void watchesThatAreCutAndTooOldAreOpenedAnew() throws Exception {
        AtomicBoolean begun = new AtomicBoolean();
        Function<Request, Harm> old = twoAttemptsOfFour(begun);
        try (FaultyApi api = new FaultyApi(TestCluster.config(), old);
                TestNamespace.Running operator = namespace.operatorThrough(api)) {
            begun.set(true);
            for (int turn = 0; turn < 4; turn++) {
                await().atMost(SOON).until(() -> api.cutWatches() > 0);
                namespace.create("cut-" + turn, SandboxSpec.DEFAULT);
                Sandbox first = namespace.await("cut-" + turn, SOON, FaultsIT::ready);
                // The operator sees what happened while no watch was open.
                await().atMost(SOON).until(() -> api.cutWatches() > 0);
                namespace
                        .admin
                        .pods()
                        .inNamespace(namespace.name)
                        .withName(SandboxPod.subject(first, 1).name())
                        .delete();
                namespace.await(
                        "cut-" + turn,
                        SOON,
                        sandbox -> ready(sandbox)
                                && SandboxPod.subject(sandbox, 2)
                                        .name()
                                        .equals(sandbox.observed().podName()));
            }
            await("the first pods, which take their time to end").atMost(SOON).untilAsserted(this::nothingIsLeftOver);
            assertThat(operator.requests("GET", "sandboxes")).isGreaterThan(4);
            assertThat(operator.ends()).as("reasons to end the process").isEmpty();
            HARMS_OF_WATCHES.forEach(harm -> assertThat(kindsThatMet(harm, api)).contains("sandboxes", "pods"));
        }
    }

    /** Of each kind's watches two are too old, told in both ways, and then two open. */
    private static Function<Request, Harm> twoAttemptsOfFour(AtomicBoolean begun) {
        Map<String, Integer> opened = new ConcurrentHashMap<>();
        return request -> begun.get() && request.watches()
                ? switch (opened.merge(request.resource(), 1, Integer::sum) % 4) {
                    case 1 -> EXPIRED;
                    case 2 -> TOO_OLD;
                    default -> NONE;
                }
                : NONE;
    }

    private static Set<String> kindsThatMet(Harm harm, FaultyApi api) {
        return api.met(harm).map(Request::resource).collect(Collectors.toSet());
    }

    @Test
    void aStormOverManySandboxes() throws Exception {
        AtomicBoolean storm = new AtomicBoolean();
        try (FaultyApi api = new FaultyApi(TestCluster.config(), chance(storm));
                TestNamespace.Running operator = namespace.operatorThrough(api)) {
            storm.set(true);
            for (int i = 0; i < 12; i++) {
                namespace.create("storm-" + i, SandboxSpec.DEFAULT);
                if (i % 3 == 1) {
                    namespace.edit("storm-" + (i - 1), SandboxSpec.DEFAULT.withSuspended(true));
                }
                if (i % 3 == 2) {
                    namespace.admin.resource(namespace.get("storm-" + (i - 1))).delete();
                }
                api.cutWatches();
            }
            await("each harm").atMost(SOON).until(() -> {
                api.cutWatches();
                return Stream.concat(HARMS.stream(), HARMS_OF_WATCHES.stream())
                        .allMatch(harm -> api.met(harm).findAny().isPresent());
            });
            storm.set(false);
            double before = operator.writes();

            for (int i = 0; i < 12; i += 3) {
                namespace.await("storm-" + i, SOON, FaultsIT::suspended);
                namespace.await("storm-" + (i + 2), SOON, FaultsIT::ready);
            }
            await().atMost(SOON).untilAsserted(this::nothingIsLeftOver);
            assertThat(operator.writes() - before)
                    .as("no more than to make each of them once")
                    .isLessThan(12 * 6);
        }
    }

    /** While the storm lasts every fifth request meets a harm, one after the other. */
    private static Function<Request, Harm> chance(AtomicBoolean storm) {
        Random random = new Random(20261122);
        Deque<Harm> harms = new ArrayDeque<>(HARMS);
        Deque<Harm> harmsOfWatches = new ArrayDeque<>(HARMS_OF_WATCHES);
        return request -> {
            synchronized (random) {
                if (!storm.get() || random.nextInt(5) > 0) {
                    return NONE;
                }
                Deque<Harm> turns = request.watches() ? harmsOfWatches : harms;
                Harm harm = turns.removeFirst();
                turns.addLast(harm);
                return harm;
            }
        };
    }

    /** One pod and one secret for each sandbox that runs, and nothing else. */
    private void nothingIsLeftOver() {
        List<String> wanted = new ArrayList<>();
        for (Sandbox sandbox : namespace
                .admin
                .resources(Sandbox.class)
                .inNamespace(namespace.name)
                .list()
                .getItems()) {
            if (ready(sandbox)) {
                wanted.add(Objects.requireNonNull(sandbox.observed().podName()));
            }
        }
        assertThat(names(namespace.pods())).as("pods").containsExactlyInAnyOrderElementsOf(wanted);
        assertThat(names(namespace
                        .admin
                        .secrets()
                        .inNamespace(namespace.name)
                        .list()
                        .getItems()))
                .as("secrets")
                .containsExactlyInAnyOrderElementsOf(wanted);
    }

    private static List<String> names(List<? extends HasMetadata> objects) {
        return objects.stream().map(object -> object.getMetadata().getName()).collect(Collectors.toList());
    }

    private static boolean ready(Sandbox sandbox) {
        return sandbox.observed().holds(ConditionType.READY);
    }

    private static boolean suspended(Sandbox sandbox) {
        return sandbox.observed().holds(ConditionType.SUSPENDED);
    }
}
