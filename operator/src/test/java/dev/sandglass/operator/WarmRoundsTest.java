package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.Workspace;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.cluster.Seats;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodSecret;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Starts with seats of a pool, of a whole operator against a stand-in for the API server. */
class WarmRoundsTest {

    private static final Duration SOON = MockedRounds.SOON;
    private static final PodSettings SETTINGS =
            OperatorSettings.of(MockedRounds.variables(Map.of())).pods();

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    @SuppressWarnings("NullAway.Init")
    private MockedRounds rounds;

    @BeforeEach
    void serve() {
        MockedRounds.servePools(api);
    }

    @AfterEach
    void stop() {
        rounds.close();
    }

    /** Begins with what there is: its caches have it then. */
    private void start() {
        rounds = MockedRounds.restart(client, Map.of());
    }

    private SandboxPool pool() {
        return client.resource(Seats.pool("tenant-a", "default", PoolTemplate.DEFAULT))
                .create();
    }

    private Pod seat(SandboxPool pool, String id) {
        Instant since = Instant.now().minusSeconds(600).truncatedTo(ChronoUnit.SECONDS);
        Pod seat = client.resource(Seats.running(Seats.seat(pool, id, SETTINGS, NetworkProbe.NONE), since))
                .create();
        client.resource(PodSecret.desired(
                        ClaimedPod.ofKeys(seat),
                        ClaimedPod.subject(id).linkKeys(TestNamespace.LINK_SECRET),
                        Optional.empty()))
                .create();
        return seat;
    }

    private static Sandbox sandbox(String name, SandboxSpec spec) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", name, SandboxStatus.UNSEEN);
        sandbox.setStatus(null);
        sandbox.setSpec(spec);
        return sandbox;
    }

    private Sandbox create(String name) {
        return client.resource(sandbox(name, SandboxSpec.DEFAULT)).create();
    }

    private Sandbox told(String name, Predicate<Sandbox> condition) {
        return await().atMost(SOON)
                .until(
                        () -> Optional.ofNullable(client.resources(Sandbox.class)
                                .inNamespace("tenant-a")
                                .withName(name)
                                .get()),
                        found -> found.filter(condition).isPresent())
                .orElseThrow();
    }

    private Sandbox ready(String name) {
        return told(name, sandbox -> sandbox.observed().holds(ConditionType.READY));
    }

    private List<Pod> pods() {
        return client.pods().inNamespace("tenant-a").list().getItems();
    }

    private List<String> podNames() {
        return pods().stream().map(pod -> pod.getMetadata().getName()).toList();
    }

    private List<String> secretNames() {
        return client.secrets().inNamespace("tenant-a").list().getItems().stream()
                .map(secret -> secret.getMetadata().getName())
                .toList();
    }

    /** What was asked of the API server since the last time, but for watches. */
    private List<String> requests() throws InterruptedException {
        List<String> requests = new ArrayList<>();
        for (RecordedRequest next = taken(); next != null; next = taken()) {
            String path = Objects.requireNonNull(next.getPath());
            if (!path.contains("watch=true")) {
                requests.add(next.getMethod() + " " + path.replaceAll("[?].*", ""));
            }
        }
        return requests;
    }

    private @Nullable RecordedRequest taken() throws InterruptedException {
        return api.server().takeRequest(1, TimeUnit.MILLISECONDS);
    }

    private static List<String> writes(List<String> requests) {
        return requests.stream().filter(request -> !request.startsWith("GET ")).toList();
    }

    /** What the operator asked for a sandbox: not what this test did, and not the namespace's policies. */
    private List<String> ofTheOperator() throws InterruptedException {
        return requests().stream()
                .filter(request -> !request.equals("POST " + SANDBOXES))
                .filter(request -> !request.contains("/networkpolicies"))
                .toList();
    }

    private static final String PODS = "/api/v1/namespaces/tenant-a/pods";
    private static final String SANDBOXES = "/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes";

    @Test
    void aNewSandboxClaimsASeatInItsFirstRoundWithTwoWrites() throws Exception {
        seat(pool(), "a");
        start();
        requests();

        create("demo");

        SandboxStatus status = ready("demo").observed();
        assertThat(status.seat()).isEqualTo("a");
        assertThat(status.podName()).isEqualTo("sbx-a-0");
        assertThat(status.start()).isEqualTo("Warm: pool default");
        assertThat(status.incarnation()).isEqualTo(1);
        assertThat(status.address()).isEqualTo("10.1.2.3");
        assertThat(status.reason(ConditionType.READY)).contains(Reason.RUNNING);
        assertThat(podNames()).containsExactly("sbx-a-0");
        assertThat(writes(ofTheOperator()))
                .containsExactly("PATCH " + PODS + "/sbx-a-0", "PUT " + SANDBOXES + "/demo/status");
        assertThat(meter("hit", "Claimed")).isEqualTo(1);
    }

    private double meter(String result, String reason) {
        return rounds.metrics()
                .get("sandglass.sandbox.claims")
                .tag("result", result)
                .tag("reason", reason)
                .counter()
                .count();
    }

    @Test
    void whereThereIsNoPoolAColdStartAsksForNoMoreThanBefore() throws Exception {
        start();
        requests();

        create("demo");
        await().atMost(SOON).until(() -> !pods().isEmpty());

        assertThat(ofTheOperator().stream().filter(request -> !request.equals("GET " + PODS)))
                .containsExactly("POST /api/v1/namespaces/tenant-a/secrets", "POST " + PODS);
        assertThat(pods().getFirst().getMetadata().getAnnotations()).doesNotContainKey(SandboxLabels.COLD_START);
        rounds.run();
        assertThat(ready("demo").observed().start()).isNull();
        assertThat(meter("miss", "NoSeat")).isZero();
    }

    @Test
    void twoSandboxesAndOneSeat() {
        seat(pool(), "a");
        start();

        create("one");
        ready("one");
        create("two");

        await().atMost(SOON).until(() -> pods().size() == 2);
        Pod cold = pods().stream()
                .filter(pod -> !pod.getMetadata().getName().equals("sbx-a-0"))
                .findFirst()
                .orElseThrow();
        assertThat(SandboxPod.whyCold(cold)).contains("NoSeat");
        await().atMost(SOON).until(() -> meter("miss", "NoSeat") == 1);
        assertThat(meter("hit", "Claimed")).isEqualTo(1);
        assertThat(told("two", sandbox -> sandbox.observed().podName() != null)
                        .observed()
                        .start())
                .isEqualTo("Cold: NoSeat");
    }

    @Test
    void whoWantsAWorkspaceStartsColdAndTheStatusSaysWhy() {
        seat(pool(), "a");
        start();

        client.resource(sandbox(
                        "demo", SandboxSpec.DEFAULT.withWorkspace(new Workspace(new Quantity("1Gi"), null, false))))
                .create();

        assertThat(told("demo", sandbox -> sandbox.observed().podName() != null)
                        .observed()
                        .start())
                .isEqualTo("Cold: Workspace");
        await().atMost(SOON).until(() -> meter("miss", "Workspace") == 1);
    }

    private void answerToTheNextClaim(String seat, int code, String reason) {
        api.server()
                .expect()
                .patch()
                .withPath(PODS + "/sbx-" + seat + "-0")
                .andReturn(
                        code,
                        new StatusBuilder().withCode(code).withReason(reason).build())
                .once();
    }

    @Test
    void afterThreeConflictsItStartsColdAndSaysThatOthersWereFaster() {
        SandboxPool pool = pool();
        for (String id : List.of("a", "b", "c")) {
            seat(pool, id);
            answerToTheNextClaim(id, 409, "Conflict");
        }
        start();

        create("demo");

        await().atMost(SOON).until(() -> meter("miss", "Contended") == 1);
        assertThat(told("demo", sandbox -> sandbox.observed().podName() != null)
                        .observed()
                        .start())
                .isEqualTo("Cold: Contended");
    }

    /** The API server made the claim and did not say so. */
    @Test
    void aRoundThatFailedIsFollowedByOneThatFindsTheClaim() {
        SandboxPool pool = pool();
        Pod seat = seat(pool, "a");
        seat(pool, "b");
        start();
        answerToTheNextClaim("a", 400, "BadRequest");

        Sandbox sandbox = create("demo");
        told("demo", found -> found.observed().reason(ConditionType.READY).equals(Optional.of(Reason.OPERATOR_ERROR)));
        claimBehindItsBack(seat, sandbox);

        assertThat(ready("demo").observed().seat()).isEqualTo("a");
        await().during(Duration.ofMillis(500))
                .atMost(SOON)
                .until(() -> ClaimedPod.isFree(client.pods()
                        .inNamespace("tenant-a")
                        .withName("sbx-b-0")
                        .get()));
    }

    private Pod claimBehindItsBack(Pod seat, Sandbox sandbox) {
        Pod cold = SandboxPod.desired(sandbox, 1, SETTINGS, Optional.empty(), Optional.empty(), NetworkProbe.NONE);
        Pod claimed = Seats.claimed(seat, cold, Instant.now());
        claimed.getMetadata().setResourceVersion(null);
        client.resource(claimed).update();
        return claimed;
    }

    @Test
    void anOperatorThatFollowsOneThatDiedAfterTheClaimOnlyTellsOfIt() throws Exception {
        Pod seat = seat(pool(), "a");
        claimBehindItsBack(seat, create("demo"));
        requests();

        start();

        assertThat(ready("demo").observed().seat()).isEqualTo("a");
        assertThat(podNames()).containsExactly("sbx-a-0");
        assertThat(writes(ofTheOperator())).containsExactly("PUT " + SANDBOXES + "/demo/status");
    }

    @Test
    void aSecondPodOfASandboxEnds() {
        SandboxPool pool = pool();
        seat(pool, "a");
        Pod second = seat(pool, "b");
        start();
        create("demo");
        claimBehindItsBack(second, ready("demo"));

        await().atMost(SOON).untilAsserted(() -> {
            assertThat(podNames()).containsExactly("sbx-a-0");
            assertThat(secretNames()).containsExactly("sbx-a-0");
        });
        assertThat(ready("demo").observed().seat()).isEqualTo("a");
    }

    @Test
    void aSeatIsUsedOnceAndTheNextIncarnationClaimsAnother() {
        SandboxPool pool = pool();
        seat(pool, "a");
        seat(pool, "b");
        start();
        create("demo");
        ready("demo");

        suspend("demo", true);
        SandboxStatus asleep = told("demo", sandbox -> sandbox.observed().holds(ConditionType.SUSPENDED))
                .observed();
        assertThat(asleep.seat()).isNull();
        assertThat(asleep.start()).isNull();
        await().atMost(SOON).untilAsserted(() -> {
            assertThat(podNames()).containsExactly("sbx-b-0");
            assertThat(secretNames()).containsExactly("sbx-b-0");
        });

        suspend("demo", false);

        SandboxStatus resumed = ready("demo").observed();
        assertThat(resumed.seat()).isEqualTo("b");
        assertThat(resumed.incarnation()).isEqualTo(2);
        assertThat(resumed.lost()).as("for the gateway to tell").isEqualTo("Requested");
    }

    private void suspend(String name, boolean suspended) {
        MockedRounds.edit(
                client.resources(Sandbox.class).inNamespace("tenant-a").withName(name), found -> {
                    found.setSpec(SandboxSpec.DEFAULT.withSuspended(suspended));
                    found.getMetadata().setGeneration(found.getMetadata().getGeneration() + 1);
                    return found;
                });
    }

    @Test
    void keysThatWereDeletedAreThoseOfTheSeatAgain() {
        seat(pool(), "a");
        start();
        create("demo");
        ready("demo");
        Secret before =
                client.secrets().inNamespace("tenant-a").withName("sbx-a-0").get();
        client.resource(before).delete();

        MockedRounds.editStatus(client.pods().inNamespace("tenant-a").withName("sbx-a-0"), found -> found.edit()
                .editStatus()
                .editFirstContainerStatus()
                .withRestartCount(1)
                .withNewState()
                .withNewWaiting()
                .withReason("CreateContainerConfigError")
                .endWaiting()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build());

        await().atMost(SOON).untilAsserted(() -> assertThat(
                        client.secrets().inNamespace("tenant-a").list().getItems())
                .singleElement()
                .satisfies(made -> {
                    assertThat(made.getMetadata().getName()).isEqualTo("sbx-a-0");
                    assertThat(made.getData()).isEqualTo(before.getData());
                }));
    }

    @Test
    void anEvictedSeatIsReplacedByAnotherAndTheLossIsTold() {
        SandboxPool pool = pool();
        seat(pool, "a");
        seat(pool, "b");
        start();
        create("demo");
        ready("demo");

        client.pods().inNamespace("tenant-a").withName("sbx-a-0").delete();

        SandboxStatus next =
                told("demo", sandbox -> "b".equals(sandbox.observed().seat())).observed();
        assertThat(next.incarnation()).isEqualTo(2);
        assertThat(next.lost()).isEqualTo("Deleted");
        assertThat(podNames()).containsExactly("sbx-b-0");
    }

    /** It may keep the sandbox for ever, and then no deadline would end the pod. */
    @Test
    void aClaimedPodEndsWithASandboxThatAFinalizerKeeps() {
        seat(pool(), "a");
        start();
        create("demo");
        Sandbox sandbox = ready("demo");
        MockedRounds.edit(client.resource(sandbox), found -> {
            found.addFinalizer("example.com/hold");
            return found;
        });

        client.resource(sandbox).delete();

        awaitNeitherPodNorKeys();
    }

    /** {@code kubectl delete --cascade=orphan} lets the pod go, and the sandbox is gone when the operator hears of it. */
    @Test
    void aClaimedPodThatIsLetGoEndsWithItsSandbox() {
        seat(pool(), "a");
        start();
        create("demo");
        Sandbox sandbox = ready("demo");
        MockedRounds.edit(client.resource(sandbox), found -> {
            found.getMetadata().setFinalizers(List.of("orphan"));
            return found;
        });
        Sandbox leaving = client.resource(sandbox).get();
        leaving.getMetadata().setDeletionTimestamp("2026-11-24T00:00:00Z");
        api.server()
                .expect()
                .get()
                .withPath(SANDBOXES + "/demo")
                .andReturn(200, leaving)
                .always();
        MockedRounds.edit(client.pods().inNamespace("tenant-a").withName("sbx-a-0"), found -> found.edit()
                .editMetadata()
                .withOwnerReferences()
                .endMetadata()
                .build());

        client.resource(sandbox).delete();

        awaitNeitherPodNorKeys();
    }

    private void awaitNeitherPodNorKeys() {
        await().atMost(SOON).untilAsserted(() -> {
            assertThat(podNames()).isEmpty();
            assertThat(secretNames()).isEmpty();
        });
    }
}
