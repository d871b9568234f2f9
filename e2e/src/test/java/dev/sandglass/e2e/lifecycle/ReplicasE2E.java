package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.GatewayReplicas;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.PlainCall;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** Any replica answers any call, and nothing that ran is lost with one of them. */
@Isolated("it ends replicas of the gateway")
class ReplicasE2E {

    /** Long enough to find the run by another replica before it is over, on a busy node too. */
    private static final int TIMEOUT_S = 20;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Installation installation = Installation.current();
    private final GatewayReplicas replicas = new GatewayReplicas(installation);

    @AfterEach
    void close() {
        replicas.two();
        replicas.close();
    }

    @Test
    void bothReplicasSeeTheSameState() {
        String sandbox = SANDBOXES.start();
        List<Pod> pods = replicas.two();
        Agent one = replicas.agentOf(pods.get(0));
        Agent other = replicas.agentOf(pods.get(1));

        one.python(sandbox, "x = 20");
        other.python(sandbox, "x += 1");

        assertThat(one.python(sandbox, "x * 2").result()).isEqualTo("42");
    }

    @Test
    void aCallIsCancelledThroughTheReplicaThatDoesNotRunIt() {
        String sandbox = SANDBOXES.start();
        List<Pod> pods = replicas.two();
        try (PlainCall call = PlainCall.open(
                replicas.endpointOf(pods.get(0)),
                installation.token(),
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", "print('begun'); import time; time.sleep(60)", "timeout", 60))) {
            call.awaitOutput("begun");

            PlainCall.cancel(replicas.endpointOf(pods.get(1)), installation.token());

            call.awaitHangUp();
        }
        assertThat(replicas.agentOf(pods.get(1)).python(sandbox, "'free'").result())
                .isEqualTo("'free'");
    }

    @Test
    void variablesSurviveTheDeathOfTheReplicaThatSetThem() {
        String sandbox = SANDBOXES.start();
        List<Pod> pods = replicas.two();
        Agent dying = replicas.agentOf(pods.get(0));
        Agent other = replicas.agentOf(pods.get(1));
        dying.python(sandbox, "x = 'set through the first replica'");

        replicas.delete(pods.get(0));

        assertThat(other.python(sandbox, "x").result()).isEqualTo("'set through the first replica'");
        await("the Service to lead to living replicas only")
                .atMost(Duration.ofSeconds(30))
                .ignoreExceptions()
                .until(() -> "'set through the first replica'"
                        .equals(SANDBOXES.agent().python(sandbox, "x").result()));
    }

    @Test
    void outputIsReadWholeThroughTheOtherReplicaAfterACrashDuringTheCall() {
        assumeTrue(installation.ownNode().isPresent(), "needs a node that can be entered");
        String sandbox = SANDBOXES.start();
        List<Pod> pods = replicas.two();
        Agent other = replicas.agentOf(pods.get(1));
        String id = begin(replicas.agentOf(pods.get(0)), sandbox);

        crashDuring(pods.get(0), "sandbox_get_execution", Map.of("execution_id", id, "wait", 50));
        other.command(sandbox, "touch", "/workspace/go-on");
        Answer whole = other.call("sandbox_get_execution", Map.of("execution_id", id, "wait", 20));

        assertThat(whole.status()).isEqualTo("ok");
        assertThat(whole.stdout()).isEqualTo(lines(0, 200));
        assertThat(whole.result()).isEqualTo("'whole'");
    }

    @Test
    void codeRunsOnWhenTheReplicaThatHeldItsCallCrashes() {
        assumeTrue(installation.ownNode().isPresent(), "needs a node that can be entered");
        String sandbox = SANDBOXES.start();
        List<Pod> pods = replicas.two();
        Agent other = replicas.agentOf(pods.get(1));

        crashDuring(pods.get(0), "sandbox_run_code", Map.of("sandbox", sandbox, "code", twoHalves()));
        String id = running(other, sandbox);
        other.command(sandbox, "touch", "/workspace/go-on");
        Answer whole = other.call("sandbox_get_execution", Map.of("execution_id", id, "wait", 20));

        assertThat(whole.status()).isEqualTo("ok");
        assertThat(whole.stdout()).isEqualTo(lines(0, 200));
        assertThat(whole.result()).isEqualTo("'whole'");
        assertThat(other.python(sandbox, "finished").result()).isEqualTo("True");
    }

    @Test
    void theTimeoutHoldsWhenTheReplicaThatHeldTheCallCrashes() {
        assumeTrue(installation.ownNode().isPresent(), "needs a node that can be entered");
        String sandbox = SANDBOXES.start();
        List<Pod> pods = replicas.two();
        Agent other = replicas.agentOf(pods.get(1));

        crashDuring(
                pods.get(0), "sandbox_run_code", Map.of("sandbox", sandbox, "code", twoHalves(), "timeout", TIMEOUT_S));
        String id = running(other, sandbox);
        Answer ended = other.call("sandbox_get_execution", Map.of("execution_id", id, "wait", 2 * TIMEOUT_S));

        assertThat(ended.status()).isEqualTo("timeout");
        assertThat(ended.number("duration_ms")).isBetween(TIMEOUT_S * 1_000L, (TIMEOUT_S + 8) * 1_000L);
        assertThat(ended.stdout()).isEqualTo(lines(0, 100));
        assertThat(other.python(sandbox, "finished").result()).isEqualTo("False");
    }

    /** The one execution that runs: nobody was told its id. */
    private static String running(Agent agent, String sandbox) {
        // The list leaves out what a sandbox did not answer in time.
        return await("one running execution")
                .atMost(Duration.ofSeconds(15))
                .until(
                        () -> maps(agent.call("sandbox_list", Map.of("sandbox", sandbox))
                                        .data()
                                        .get("sandboxes"))
                                .flatMap(box -> maps(box.get("executions")))
                                .filter(execution -> "running".equals(execution.get("state")))
                                .map(execution -> String.valueOf(execution.get("execution_id")))
                                .toList(),
                        running -> running.size() == 1)
                .getFirst();
    }

    private static Stream<Map<?, ?>> maps(@Nullable Object list) {
        return Stream.ofNullable((List<?>) list).flatMap(List::stream).map(entry -> (Map<?, ?>) entry);
    }

    /** Crashes the replica while it holds the call, after half of the output has come through it. */
    private void crashDuring(Pod replica, String tool, Map<String, Object> arguments) {
        try (PlainCall held = PlainCall.open(replicas.endpointOf(replica), installation.token(), tool, arguments)) {
            held.awaitOutput("line 99\\n");
            replicas.crash(replica);
            held.awaitHangUp();
        }
    }

    private static String begin(Agent agent, String sandbox) {
        Answer begun =
                agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", twoHalves(), "background", true));
        assertThat(begun.status()).isEqualTo("running");
        return begun.executionId();
    }

    private static String twoHalves() {
        return """
                import os, time
                finished = False
                for i in range(100): print("line", i, flush=True)
                while not os.path.exists("/workspace/go-on"):
                    time.sleep(0.01)
                for i in range(100, 200): print("line", i, flush=True)
                finished = True
                "whole"
                """;
    }

    private static String lines(int from, int to) {
        var text = new StringBuilder();
        for (int i = from; i < to; i++) {
            text.append("line ").append(i).append('\n');
        }
        return text.toString();
    }
}
