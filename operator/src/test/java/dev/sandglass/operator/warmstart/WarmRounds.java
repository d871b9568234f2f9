package dev.sandglass.operator.warmstart;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.pool.PoolTemplate;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.MockedRounds;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.child.SeatPod;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodSecret;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
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
import org.junit.jupiter.api.extension.RegisterExtension;

/** Seats of a pool, and a whole operator against a stand-in for the API server. */
abstract class WarmRounds {

    static final Duration SOON = MockedRounds.SOON;
    private static final PodSettings SETTINGS = MockedRounds.settings();

    /** Ids of seats. */
    static final String A = "3f0c9a51-6d1e-4f27-9b0a-8f6f7f1f2a1a";

    static final String B = "3f0c9a51-6d1e-4f27-9b0a-8f6f7f1f2a1b";
    static final String C = "3f0c9a51-6d1e-4f27-9b0a-8f6f7f1f2a1c";

    @RegisterExtension
    final MockApi api = new MockApi();

    final KubernetesClient client = api.client();

    @SuppressWarnings("NullAway.Init")
    MockedRounds rounds;

    @BeforeEach
    void serve() {
        MockedRounds.servePools(api);
    }

    @AfterEach
    void stop() {
        rounds.close();
    }

    /** Begins with what there is: its caches have it then. */
    void start() {
        rounds = MockedRounds.restart(client, Map.of());
    }

    /** Its seats are this test's, and none of those that the operator keeps: it wants none. */
    SandboxPool pool() {
        SandboxPool pool = Seats.pool("tenant-a", "default", PoolTemplate.DEFAULT);
        pool.setSpec(new SandboxPoolSpec(0, PoolTemplate.DEFAULT, null));
        SandboxPool made = client.resource(pool).create();
        made.getMetadata().setUid("uid-of-none");
        return made;
    }

    Pod seat(SandboxPool pool, String id) {
        Instant since = Instant.now().minusSeconds(600).truncatedTo(ChronoUnit.SECONDS);
        Pod seat = client.resource(Seats.running(Seats.seat(pool, id, SETTINGS, NetworkProbe.NONE), since))
                .create();
        client.resource(PodSecret.desired(
                        SeatPod.ofSecret(seat),
                        SeatPod.subject(id).linkKeys(TestNamespace.LINK_SECRET),
                        Optional.empty()))
                .create();
        return seat;
    }

    static Sandbox sandbox(String name, SandboxSpec spec) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", name, SandboxStatus.UNSEEN);
        sandbox.setStatus(null);
        sandbox.setSpec(spec);
        return sandbox;
    }

    Sandbox create(String name) {
        return client.resource(sandbox(name, SandboxSpec.DEFAULT)).create();
    }

    Sandbox told(String name, Predicate<Sandbox> condition) {
        return await().atMost(SOON)
                .until(
                        () -> Optional.ofNullable(client.resources(Sandbox.class)
                                .inNamespace("tenant-a")
                                .withName(name)
                                .get()),
                        found -> found.filter(condition).isPresent())
                .orElseThrow();
    }

    Sandbox ready(String name) {
        return told(name, sandbox -> sandbox.observed().holds(ConditionType.READY));
    }

    List<Pod> pods() {
        return client.pods().inNamespace("tenant-a").list().getItems();
    }

    List<String> podNames() {
        return pods().stream().map(pod -> pod.getMetadata().getName()).toList();
    }

    List<String> secretNames() {
        return client.secrets().inNamespace("tenant-a").list().getItems().stream()
                .map(secret -> secret.getMetadata().getName())
                .toList();
    }

    /** What was asked of the API server since the last time, but for watches. */
    List<String> requests() throws InterruptedException {
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

    static List<String> writes(List<String> requests) {
        return requests.stream().filter(request -> !request.startsWith("GET ")).toList();
    }

    /** What the operator asked for a sandbox: not what this test did, and not the namespace's policies. */
    List<String> ofTheOperator() throws InterruptedException {
        return requests().stream()
                .filter(request -> !request.equals("POST " + SANDBOXES))
                .filter(request -> !request.contains("/networkpolicies"))
                .filter(request -> !request.contains("/sandboxpools"))
                .toList();
    }

    static final String PODS = "/api/v1/namespaces/tenant-a/pods";
    static final String SANDBOXES = "/apis/sandglass.dev/v1alpha1/namespaces/tenant-a/sandboxes";

    Pod claimBehindItsBack(Pod seat, Sandbox sandbox) {
        Pod cold = SandboxPod.desired(sandbox, 1, SETTINGS, Optional.empty(), Optional.empty(), NetworkProbe.NONE);
        Pod claimed = Seats.claimed(seat, cold, Instant.now());
        claimed.getMetadata().setResourceVersion(null);
        // The operator may write to it at the same moment.
        MockedRounds.replace(client.resource(claimed));
        return claimed;
    }

    double meter(String result, String reason) {
        return rounds.metrics()
                .get("sandglass.sandbox.claims")
                .tag("result", result)
                .tag("reason", reason)
                .counter()
                .count();
    }
}
