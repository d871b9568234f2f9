package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import io.modelcontextprotocol.spec.McpError;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** The API server is killed and comes back while sandboxes are started at a steady rate and code runs in others. */
@Isolated("it restarts the API server")
class ApiRestartE2E {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** A start says within the time-outs of its requests that the API server does not take them: long before it would give up. */
    private static final Duration AT_ONCE = Duration.ofSeconds(30);

    private static final Duration BETWEEN_STARTS = Duration.ofSeconds(2);
    private static final Map<String, Object> SMALL = Map.of("cpus", 0.5);
    private static final int RUNNING = 2;
    private static final int STARTS_ON_EITHER_SIDE = 2;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());

    private final Installation installation = Installation.current();
    private final List<Start> starts = new CopyOnWriteArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();

    /** Where starts take long, they would fill the node otherwise. */
    private final Semaphore room = new Semaphore(3);

    /** What became of a start. */
    private record Start(String sandbox, Instant begun, Instant ended, boolean failed, String text) {}

    /** One answer of a sandbox that ran all the time. */
    private record Turn(Instant begun, Instant ended, Answer answer) {}

    /** When there was no API server, at most. */
    private record Outage(Instant from, Instant until) {

        boolean holds(Turn turn) {
            return turn.begun().isAfter(from) && turn.ended().isBefore(until);
        }
    }

    @BeforeEach
    void ownNode() {
        assumeTrue(installation.ownNode().isPresent(), "needs an API server that may be killed");
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    @Test
    void whatRunsGoesOnAndWhatStartsSaysWhyNotAndIsStartedLater() {
        List<String> running = new ArrayList<>();
        for (int i = 0; i < RUNNING; i++) {
            running.add(SANDBOXES.start(SMALL));
        }
        List<CompletableFuture<List<Turn>>> counting = new ArrayList<>();
        Outage outage;
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor()) {
            running.forEach(sandbox -> counting.add(CompletableFuture.supplyAsync(() -> count(sandbox), threads)));
            Future<?> ticking = clock.scheduleAtFixedRate(
                    () -> threads.execute(this::startAnother), 0, BETWEEN_STARTS.toMillis(), TimeUnit.MILLISECONDS);
            try {
                awaitStartsAfter(Instant.MIN);
                Instant killed = Instant.now();
                installation.ownNode().orElseThrow().restart("kube-apiserver");
                outage = new Outage(killed, Instant.now());
                awaitStartsAfter(outage.until());
            } finally {
                over.set(true);
                ticking.cancel(false);
            }
        }

        counting.forEach(turns -> countedOn(turns.join(), outage));
        assertThat(starts).filteredOn(Start::failed).allSatisfy(ApiRestartE2E::failedAtOnceWithTheCause);
        assertThat(starts)
                .filteredOn(start -> start.begun().isAfter(outage.until()))
                .noneMatch(Start::failed);
        try (Agent agent = installation.agent()) {
            assertThat(starts).filteredOn(Start::failed).allSatisfy(start -> assertThat(
                            agent.start(start.sandbox()).failed())
                    .isFalse());
        }
        await("one pod for each sandbox, and none of those that were deleted")
                .atMost(PATIENCE)
                .untilAsserted(() -> starts.forEach(start -> isWhole(start.sandbox())));
    }

    /** Counts in a kernel, one call after the other, until the test is over. */
    private List<Turn> count(String sandbox) {
        var turns = new ArrayList<Turn>();
        try (Agent agent = installation.agent()) {
            turns.add(turn(agent, sandbox, "n = 0\nn"));
            while (!over.get()) {
                turns.add(turn(agent, sandbox, "n += 1\nn"));
            }
        }
        return turns;
    }

    private static Turn turn(Agent agent, String sandbox, String code) {
        Instant begun = Instant.now();
        Answer answer = agent.python(sandbox, code);
        return new Turn(begun, Instant.now(), answer);
    }

    /** Starts one and, lest the node gets full, deletes it. That may fail for want of an API server, and it then stays. */
    private void startAnother() {
        if (room.tryAcquire()) {
            try {
                start(nextName());
            } finally {
                room.release();
            }
        }
    }

    private void start(String sandbox) {
        Instant begun = Instant.now();
        try (Agent agent = installation.agent()) {
            Answer answer = agent.call("sandbox_start", Map.of("sandbox", sandbox, "config", SMALL));
            starts.add(new Start(sandbox, begun, Instant.now(), answer.failed(), answer.text()));
            if (!answer.failed()) {
                agent.call("sandbox_stop", Map.of("sandbox", sandbox, "delete", true));
            }
        } catch (McpError e) {
            starts.add(new Start(sandbox, begun, Instant.now(), true, String.valueOf(e.getMessage())));
        }
    }

    private static synchronized String nextName() {
        return SANDBOXES.name();
    }

    private void awaitStartsAfter(Instant time) {
        await("starts that succeed")
                .atMost(PATIENCE)
                .until(() -> starts.stream()
                                .filter(start ->
                                        !start.failed() && start.begun().isAfter(time))
                                .count()
                        >= STARTS_ON_EITHER_SIDE);
    }

    private static void countedOn(List<Turn> turns, Outage outage) {
        for (int i = 0; i < turns.size(); i++) {
            Answer answer = turns.get(i).answer();
            assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
            assertThat(answer.result())
                    .as("the same kernel, and every call once")
                    .isEqualTo(Integer.toString(i));
        }
        assertThat(turns).as("calls while there was no API server").anyMatch(outage::holds);
    }

    private static void failedAtOnceWithTheCause(Start start) {
        assertThat(Duration.between(start.begun(), start.ended())).isLessThan(AT_ONCE);
        assertThat(start.text()).contains("The cluster's API does not take orders");
    }

    private static void isWhole(String name) {
        List<String> pods = TENANT
                .kubernetes()
                .pods()
                .inNamespace(Tenant.NAMESPACE)
                .withLabel(SandboxLabels.SANDBOX, name)
                .list()
                .getItems()
                .stream()
                .map(pod -> pod.getMetadata().getName())
                .toList();
        Sandbox sandbox = TENANT.resource(name).get();
        if (sandbox == null) {
            assertThat(pods).as(name).isEmpty();
            return;
        }
        assertThat(sandbox.observed().holds(ConditionType.READY)).as(name).isTrue();
        assertThat(pods).containsExactly(String.valueOf(sandbox.observed().podName()));
    }
}
