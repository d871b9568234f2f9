package dev.sandglass.operator.warmstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.PoolCondition;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.MockedRounds;
import dev.sandglass.operator.child.ChildNames;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.pool.Pools;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.mockwebserver.dsl.TimesOnceableOrHttpHeaderable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rounds for pools, of a whole operator against a stand-in for the API server. */
class PoolRoundsTest {

    private static final Duration SOON = MockedRounds.SOON;

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    @SuppressWarnings("NullAway.Init")
    private MockedRounds rounds;

    @BeforeEach
    void start() {
        rounds = MockedRounds.start(api);
    }

    @AfterEach
    void stop() {
        rounds.close();
    }

    private SandboxPool create(String name, int replicas) {
        return client.resource(Pools.pool(name, replicas)).create();
    }

    private List<Pod> seats(String pool) {
        return client.pods()
                .inNamespace("tenant-a")
                .withLabel(SandboxLabels.POOL, pool)
                .list()
                .getItems();
    }

    private List<Pod> awaitSeats(String pool, int count) {
        return await().atMost(SOON).until(() -> seats(pool), found -> found.size() == count);
    }

    private Resource<Pod> pod(Pod seat) {
        return client.pods().inNamespace("tenant-a").withName(seat.getMetadata().getName());
    }

    private void run(Pod seat) {
        MockedRounds.editStatus(pod(seat), Pools::running);
    }

    private SandboxPool awaitPool(String name, Predicate<SandboxPool> condition) {
        return await().atMost(SOON)
                .until(
                        () -> client.resources(SandboxPool.class)
                                .inNamespace("tenant-a")
                                .withName(name)
                                .get(),
                        condition);
    }

    private static boolean says(SandboxPool pool, PoolCondition type, String status, String reason) {
        return pool.observed()
                .condition(type)
                .filter(told -> status.equals(told.getStatus()) && reason.equals(told.getReason()))
                .isPresent();
    }

    private void scale(String name, int replicas) {
        edit(name, new SandboxPoolSpec(replicas, null, null));
    }

    private void edit(String name, SandboxPoolSpec spec) {
        MockedRounds.edit(
                client.resources(SandboxPool.class).inNamespace("tenant-a").withName(name), pool -> {
                    pool.setSpec(spec);
                    return pool;
                });
    }

    private static Set<String> names(List<Pod> pods) {
        return pods.stream().map(pod -> pod.getMetadata().getName()).collect(Collectors.toSet());
    }

    static Pod letGo(Pod seat) {
        return seat.edit().editMetadata().withOwnerReferences().endMetadata().build();
    }

    /** As after a deletion with {@code --cascade=orphan} while no operator was there: no sandbox can claim it. */
    @Tag("slow")
    @Test
    void aSeatThatAPoolOfTheSameNameLetGoIsEnded() {
        create("warm", 1);
        Pod seat = awaitSeats("warm", 1).getFirst();
        run(seat);
        awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "True", "Complete"));

        MockedRounds.edit(pod(seat), PoolRoundsTest::letGo);

        await().atMost(SOON).until(() -> pod(seat).get() == null);
        assertThat(awaitSeats("warm", 1)).noneMatch(SeatPod::isOrphan);
    }

    @Test
    void aPoolGetsItsSeatsBehindThePoliciesOfTheNamespace() {
        create("warm", 2);

        List<Pod> seats = awaitSeats("warm", 2);
        assertThat(client.network()
                        .v1()
                        .networkPolicies()
                        .inNamespace("tenant-a")
                        .list()
                        .getItems())
                .extracting(policy -> policy.getMetadata().getName())
                .containsExactlyInAnyOrder(ChildNames.NAMESPACE_POLICY, ChildNames.NAMESPACE_ACCESS);
        await().atMost(SOON).untilAsserted(() -> assertThat(secrets())
                .allSatisfy(secret -> assertThat(secret.getMetadata()
                                .getOwnerReferences()
                                .getFirst()
                                .getKind())
                        .isEqualTo("Pod"))
                .extracting(secret -> secret.getMetadata().getName())
                .containsExactlyInAnyOrderElementsOf(names(seats)));
        seats.forEach(this::run);

        SandboxPool complete = awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "True", "Complete"));
        assertThat(complete.observed().replicas()).isEqualTo(2);
        assertThat(complete.observed().readyReplicas()).isEqualTo(2);
        assertThat(complete.observed().updatedReplicas()).isEqualTo(2);
        assertThat(says(complete, PoolCondition.AVAILABLE, "True", "SeatsReady"))
                .isTrue();
        assertThat(names(seats("warm"))).isEqualTo(names(seats));
    }

    private List<Secret> secrets() {
        return client.secrets().inNamespace("tenant-a").list().getItems();
    }

    @Tag("slow")
    @Test
    void thePoolIsScaledUpAndDown() {
        create("warm", 1);
        awaitSeats("warm", 1).forEach(this::run);
        scale("warm", 2);
        awaitSeats("warm", 2).forEach(this::run);
        scale("warm", 0);
        awaitSeats("warm", 0);
        awaitPool("warm", pool -> says(pool, PoolCondition.AVAILABLE, "True", "NoSeatsWanted"));
    }

    @Tag("slow")
    @Test
    void anotherTemplateReplacesOneSeatAfterTheOther() {
        create("warm", 1);
        List<Pod> before = awaitSeats("warm", 1);
        before.forEach(this::run);
        awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "True", "Complete"));

        edit("warm", new SandboxPoolSpec(1, PoolTemplate.DEFAULT, List.of("python", "javascript")));

        await().atMost(SOON)
                .untilAsserted(
                        () -> assertThat(names(seats("warm"))).hasSize(1).doesNotContainAnyElementsOf(names(before)));
        seats("warm").forEach(this::run);
        awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "True", "Complete"));
    }

    /** The old seat counts towards the quota, so that nothing would ever go on if it waited for the new one. */
    @Tag("slow")
    @Test
    void anotherTemplateReplacesTheSeatsOfAPoolThatFillsItsQuota() {
        create("warm", 1);
        List<Pod> before = awaitSeats("warm", 1);
        before.forEach(this::run);
        awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "True", "Complete"));
        refusePods().once();

        edit("warm", new SandboxPoolSpec(1, PoolTemplate.DEFAULT, List.of("python", "javascript")));

        awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "False", "QuotaExceeded"));
        assertThat(names(seats("warm"))).doesNotContainAnyElementsOf(names(before));
        assertThat(names(awaitSeats("warm", 1))).doesNotContainAnyElementsOf(names(before));
    }

    private TimesOnceableOrHttpHeaderable<Void> refusePods() {
        return api.server()
                .expect()
                .post()
                .withPath("/api/v1/namespaces/tenant-a/pods")
                .andReturn(
                        403,
                        new StatusBuilder()
                                .withCode(403)
                                .withReason("Forbidden")
                                .withMessage("pods \"x\" is forbidden: exceeded quota: pods, requested: pods=1")
                                .build());
    }

    @Tag("slow")
    @Test
    void aSeatThatASandboxClaimedIsReplacedAndLeftAlone() {
        create("warm", 1);
        Pod seat = awaitSeats("warm", 1).getFirst();
        run(seat);

        MockedRounds.edit(pod(seat), found -> found.edit()
                .editMetadata()
                .addToLabels(SandboxLabels.SANDBOX, "claimer")
                .addToLabels(SandboxLabels.SANDBOX_UID, "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80")
                .withOwnerReferences()
                .endMetadata()
                .build());

        assertThat(names(awaitSeats("warm", 2))).contains(seat.getMetadata().getName());
        scale("warm", 0);
        assertThat(awaitSeats("warm", 1))
                .extracting(pod -> pod.getMetadata().getName())
                .containsExactly(seat.getMetadata().getName());
    }

    @Tag("slow")
    @Test
    void twoPoolsOfANamespaceKeepToTheirOwnSeats() {
        create("small", 1);
        create("large", 2);
        Set<String> small = names(awaitSeats("small", 1));
        Set<String> large = names(awaitSeats("large", 2));
        assertThat(small).doesNotContainAnyElementsOf(large);
        scale("small", 0);
        awaitSeats("small", 0);
        assertThat(names(seats("large"))).isEqualTo(large);
    }

    @Tag("slow")
    @Test
    void aSandboxBesideAPoolHasItsPodAndTheSeatsAreNoneOfIt() {
        create("warm", 1);
        Set<String> seats = names(awaitSeats("warm", 1));
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("tenant-a");
        client.resource(sandbox).create();

        Sandbox started = rounds.told(sandbox, ConditionType.READY, "False");
        assertThat(started.observed().podName()).isNotNull().isNotIn(seats);
        assertThat(names(seats("warm"))).isEqualTo(seats);
    }

    @Tag("slow")
    @Test
    void aFullQuotaIsReportedAndToldAsAnEvent() {
        refusePods().always();
        create("warm", 1);

        SandboxPool full = awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "False", "QuotaExceeded"));
        assertThat(full.observed()
                        .condition(PoolCondition.PROGRESSING)
                        .orElseThrow()
                        .getMessage())
                .startsWith("The API server refused the pod: ")
                .contains("exceeded quota");
        assertThat(full.observed().replicas()).isZero();
        await().atMost(SOON).untilAsserted(() -> assertThat(events("QuotaExceeded"))
                .singleElement()
                .satisfies(event -> assertThat(event.getRegarding().getKind()).isEqualTo("SandboxPool")));
    }

    private List<Event> events(String reason) {
        return client.events().v1().events().inNamespace("tenant-a").list().getItems().stream()
                .filter(event -> reason.equals(event.getReason()))
                .toList();
    }

    @Tag("slow")
    @Test
    void anImageThatIsNotAllowedGetsNoSeat() {
        client.resource(Pools.pool("warm", 1, "elsewhere.example.org/kernel:1")).create();

        awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "False", "ImageForbidden"));
        assertThat(seats("warm")).isEmpty();

        scaleWithDefaults();
        awaitSeats("warm", 1);
    }

    private void scaleWithDefaults() {
        edit("warm", new SandboxPoolSpec(1, PoolTemplate.DEFAULT, null));
    }

    /** The operator that made it died before it made the Secret. */
    @Tag("slow")
    @Test
    void aSeatWithoutItsSecretGetsIt() {
        create("warm", 1);
        Pod seat = awaitSeats("warm", 1).getFirst();
        Secret made = await().atMost(SOON)
                .until(this::secrets, found -> !found.isEmpty())
                .getFirst();
        client.resource(made).delete();

        MockedRounds.editStatus(pod(seat), found -> Pools.running(found)
                .edit()
                .editStatus()
                .editFirstContainerStatus()
                .withNewState()
                .withNewWaiting()
                .withReason("CreateContainerConfigError")
                .withMessage("secret not found")
                .endWaiting()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build());

        await().atMost(SOON).untilAsserted(() -> assertThat(secrets())
                .singleElement()
                .satisfies(again -> assertThat(again.getData()).isEqualTo(made.getData())));
    }

    @Tag("slow")
    @Test
    void aSeatThatEndedIsReplaced() {
        create("warm", 1);
        Pod seat = awaitSeats("warm", 1).getFirst();

        MockedRounds.editStatus(pod(seat), found -> found.edit()
                .withNewStatus()
                .withPhase("Failed")
                .withReason("Evicted")
                .endStatus()
                .build());

        await().atMost(SOON).untilAsserted(() -> assertThat(names(seats("warm")))
                .hasSize(1)
                .doesNotContain(seat.getMetadata().getName()));
    }

    /** The process may die at any time; the next one finds the seats. */
    @Tag("slow")
    @Test
    void anotherOperatorGoesOnWithTheSeatsThatThereAre() {
        create("warm", 2);
        Set<String> seats = names(awaitSeats("warm", 2));
        rounds.close();

        rounds = MockedRounds.restart(client, Map.of());

        awaitSeats("warm", 2).forEach(this::run);
        awaitPool("warm", pool -> says(pool, PoolCondition.PROGRESSING, "True", "Complete"));
        assertThat(names(seats("warm"))).isEqualTo(seats);
    }
}
