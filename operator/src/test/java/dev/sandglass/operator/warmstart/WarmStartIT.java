package dev.sandglass.operator.warmstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.cluster.FaultyApi;
import dev.sandglass.operator.cluster.FaultyApi.Harm;
import dev.sandglass.operator.cluster.FaultyApi.Request;
import dev.sandglass.operator.cluster.MortalApi;
import dev.sandglass.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Pod;
import io.micrometer.core.instrument.Counter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Claims of seats at a real API server, by operators that die, that hear nothing of what they did, and that are several: each
 * sandbox has one pod in the end, and each seat one sandbox.
 */
class WarmStartIT {

    private static final Duration SOON = Duration.ofSeconds(90);
    private static final Harm NONE = new Harm.None();
    private static final String POOL = "default";

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    /** Has an operator fill a pool, and end. */
    private void filled(int seats) {
        SandboxPool pool = new SandboxPool();
        pool.getMetadata().setName(POOL);
        pool.getMetadata().setNamespace(namespace.name);
        pool.setSpec(new SandboxPoolSpec(seats, null, null));
        namespace.admin.resource(pool).create();
        try (TestNamespace.Running healthy = namespace.operator(Map.of())) {
            await("seats")
                    .atMost(SOON)
                    .until(() ->
                            namespace.admin.resource(pool).require().observed().readyReplicas() == seats);
            assertThat(healthy.requests("POST", "pods")).isEqualTo(seats);
        }
    }

    private static boolean ready(Sandbox sandbox) {
        return sandbox.observed().holds(ConditionType.READY);
    }

    private static boolean warm(Sandbox sandbox) {
        return ready(sandbox) && sandbox.observed().seat() != null;
    }

    private List<Pod> podsOf(Sandbox sandbox) {
        return namespace
                .admin
                .pods()
                .inNamespace(namespace.name)
                .withLabel(SandboxLabels.SANDBOX_UID, sandbox.getMetadata().getUid())
                .list()
                .getItems();
    }

    /** One pod, which the status names, with the keys of its seat or of its own. */
    private void hasOnePod(String name) {
        Sandbox sandbox = namespace.get(name);
        assertThat(ready(sandbox)).isTrue();
        assertThat(podsOf(sandbox)).singleElement().satisfies(pod -> {
            assertThat(pod.getMetadata().getName()).isEqualTo(sandbox.observed().podName());
            assertThat(pod.getMetadata().getOwnerReferences()).singleElement().satisfies(owner -> assertThat(
                            owner.getUid())
                    .isEqualTo(sandbox.getMetadata().getUid()));
            assertThat(ClaimedPod.seat(pod).orElse("none"))
                    .isEqualTo(Objects.requireNonNullElse(sandbox.observed().seat(), "none"));
            assertThat(namespace
                            .admin
                            .secrets()
                            .inNamespace(namespace.name)
                            .withName(pod.getMetadata().getName())
                            .get())
                    .isNotNull();
        });
    }

    private static double claims(TestNamespace.Running operator, String result) {
        return operator.metrics().find("sandglass.sandbox.claims").tag("result", result).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    @Test
    void aClaimTakesTwoWritesAndTheSeatLivesAsLongAsAPodOfItsOwnWould() {
        filled(1);
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("quick", SandboxSpec.DEFAULT.withMaxLifetime("2h"));
            Sandbox sandbox = namespace.await("quick", SOON, WarmStartIT::warm);

            assertThat(sandbox.observed().start()).isEqualTo("Warm: pool " + POOL);
            assertThat(operator.requests("PATCH", "pods")).isEqualTo(1);
            await().atMost(SOON).until(() -> operator.requests("PUT", "sandboxes/status") == 1);
            assertThat(claims(operator, "hit")).isEqualTo(1);
            Pod pod = podsOf(sandbox).getFirst();
            assertThat(pod.getSpec().getActiveDeadlineSeconds())
                    .isEqualTo(ClaimedPod.ageAtClaim(pod).plusHours(2).toSeconds());
            hasOnePod("quick");
        }
    }

    @Test
    void aClaimedPodEndsWithItsSandboxAndTheNextIncarnationClaimsAnother() {
        filled(2);
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            namespace.create("again", SandboxSpec.DEFAULT);
            String first =
                    namespace.await("again", SOON, WarmStartIT::warm).observed().seat();
            namespace.edit("again", SandboxSpec.DEFAULT.withSuspended(true));
            Sandbox asleep =
                    namespace.await("again", SOON, sandbox -> sandbox.observed().holds(ConditionType.SUSPENDED));
            assertThat(asleep.observed().seat()).isNull();
            await().atMost(SOON).until(() -> podsOf(asleep).isEmpty());

            namespace.edit("again", SandboxSpec.DEFAULT);

            Sandbox resumed = namespace.await("again", SOON, WarmStartIT::warm);
            assertThat(resumed.observed().seat()).isNotEqualTo(first);
            assertThat(resumed.observed().incarnation()).isEqualTo(2);
            assertThat(claims(operator, "hit")).isEqualTo(2);
            hasOnePod("again");
            Sandbox deleted = namespace.get("again");
            namespace.admin.resource(deleted).delete();
            await().atMost(SOON).until(() -> podsOf(deleted).isEmpty());
        }
    }

    /** Before the claim, between claim and status, and after both; the pool's own writes may come between. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void anOperatorThatDiesIsFollowedByOneThatFinishes(int writes) {
        filled(2);
        namespace.create("crash", SandboxSpec.DEFAULT);
        MortalApi death = new MortalApi(writes);
        try (TestNamespace.Running dying = namespace.operator(Map.of(), death)) {
            await().atMost(SOON).until(() -> death.dead() || ready(namespace.get("crash")));
            assertThat(dying.writes() - dying.events()).isLessThanOrEqualTo(writes + refill(dying));
        } catch (RuntimeException cannotBegin) {
            assertThat(death.dead()).as(cannotBegin.getMessage()).isTrue();
        }
        try (TestNamespace.Running next = namespace.operator(Map.of())) {
            namespace.await("crash", SOON, WarmStartIT::ready);
            await().atMost(SOON).untilAsserted(() -> hasOnePod("crash"));
            assertThat(next.requests("PATCH", "pods")).as("claims").isLessThanOrEqualTo(1);
        }
    }

    private static double refill(TestNamespace.Running operator) {
        return operator.requests("POST", "pods") + operator.requests("POST", "secrets");
    }

    /** The harm that the first two writes of a kind meet. */
    static List<Arguments> harms() {
        Predicate<Request> claim =
                request -> request.method().equals("PATCH") && request.target().contains("/pods/");
        Predicate<Request> status = request -> request.method().equals("PUT")
                && request.target().contains("/sandboxes/")
                && request.target().contains("/status");
        return List.of(
                Arguments.of("the claim fails", claim, new Harm.Refuse(500, "InternalError")),
                Arguments.of("the claim meets a conflict", claim, new Harm.Refuse(409, "Conflict")),
                Arguments.of("the claim's answer is lost", claim, new Harm.LoseAnswer()),
                Arguments.of("the claim is late", claim, new Harm.Delay(Duration.ofMillis(300))),
                Arguments.of("the status fails", status, new Harm.Refuse(500, "InternalError")),
                Arguments.of("the status meets a conflict", status, new Harm.Refuse(409, "Conflict")),
                Arguments.of("the status' answer is lost", status, new Harm.LoseAnswer()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("harms")
    void anApiServerThatFailsLeavesOnePod(String name, Predicate<Request> write, Harm harm) throws Exception {
        filled(3);
        AtomicInteger met = new AtomicInteger();
        Function<Request, Harm> twice = request -> write.test(request) && met.incrementAndGet() <= 2 ? harm : NONE;
        try (FaultyApi api = new FaultyApi(TestCluster.config(), twice);
                TestNamespace.Running operator = namespace.operatorThrough(api)) {
            namespace.create("harmed", SandboxSpec.DEFAULT);
            namespace.await("harmed", SOON, WarmStartIT::ready);

            await(name).atMost(SOON).untilAsserted(() -> hasOnePod("harmed"));
            assertThat(api.count(harm.getClass())).isPositive();
            assertThat(claims(operator, "hit") + claims(operator, "miss")).isLessThanOrEqualTo(1);
        }
    }

    /** As for a moment when another replica takes the lead. */
    @Test
    void twoOperatorsClaimNoSeatTwice() {
        filled(4);
        try (TestNamespace.Running one = namespace.operator(Map.of());
                TestNamespace.Running other = namespace.operator(Map.of())) {
            burst(6);
            await().atMost(SOON).untilAsserted(() -> eachHasOnePod(6));
            assertThat(one.requests("PATCH", "pods") + other.requests("PATCH", "pods"))
                    .isGreaterThanOrEqualTo(4);
        }
    }

    private void burst(int sandboxes) {
        IntStream.range(0, sandboxes).parallel().forEach(number -> namespace.create(name(number), SandboxSpec.DEFAULT));
    }

    private static String name(int number) {
        return "burst-" + number;
    }

    private void eachHasOnePod(int sandboxes) {
        IntStream.range(0, sandboxes).forEach(number -> hasOnePod(name(number)));
    }

    @Test
    void aBurstOfTenOnFourSeats() {
        filled(4);
        try (TestNamespace.Running operator = namespace.operator(Map.of())) {
            burst(10);
            await().atMost(SOON).untilAsserted(() -> eachHasOnePod(10));

            List<Sandbox> all = IntStream.range(0, 10)
                    .mapToObj(number -> namespace.get(name(number)))
                    .toList();
            List<String> seats = all.stream()
                    .map(sandbox -> sandbox.observed().seat())
                    .filter(Objects::nonNull)
                    .toList();
            assertThat(seats).doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(4);
            assertThat(claims(operator, "hit")).isEqualTo(seats.size());
            assertThat(claims(operator, "hit") + claims(operator, "miss")).isEqualTo(10);
            assertThat(all).allSatisfy(sandbox -> assertThat(sandbox.observed().start())
                    .startsWith(sandbox.observed().seat() == null ? "Cold: " : "Warm: "));
        }
    }
}
