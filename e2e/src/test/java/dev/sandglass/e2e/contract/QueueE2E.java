package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.GatewayReplicas;
import dev.sandglass.e2e.support.Installation;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** A kernel's queue is the sandbox's, whichever replica of the gateway fills it. */
@Isolated("it needs both replicas of the gateway")
class QueueE2E {

    private static final int QUEUE = 8;

    private static final String UNTIL_RELEASED = """
            import os, time
            ran = []
            print("begun", flush=True)
            while not os.path.exists("/workspace/released"):
                time.sleep(0.01)
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final GatewayReplicas replicas = new GatewayReplicas(Installation.current());

    @AfterEach
    void close() {
        replicas.close();
    }

    @Test
    void oneQueueOfEightHoldsAcrossBothReplicas() {
        String sandbox = SANDBOXES.start();
        List<Pod> pods = replicas.two();
        List<Agent> agents = List.of(replicas.agentOf(pods.get(0)), replicas.agentOf(pods.get(1)));
        begin(agents.getFirst(), sandbox);

        var waiting = new ArrayList<String>();
        for (int place = 1; place <= QUEUE; place++) {
            Answer queued = queued(agents.get(place % 2), sandbox, place);
            assertThat(queued.status()).as(queued.text()).isEqualTo("running");
            assertThat(queued.number("queue_position")).isEqualTo(place);
            waiting.add(queued.executionId());
        }
        agents.forEach(agent -> assertRejected(queued(agent, sandbox, QUEUE + 1)));
        agents.getFirst().command(sandbox, "touch", "/workspace/released");

        for (int place = 1; place <= QUEUE; place++) {
            // Read through the other replica than the one that took it.
            Answer ended = read(agents.get((place + 1) % 2), waiting.get(place - 1), 20);
            assertThat(ended.status()).as(ended.text()).isEqualTo("ok");
            assertThat(ended.stdout()).isEqualTo(place + "\n");
        }
        agents.forEach(
                agent -> assertThat(agent.python(sandbox, "ran").result()).isEqualTo("[1, 2, 3, 4, 5, 6, 7, 8]"));
    }

    /** Returns when the code runs, and all else has to wait for it. */
    private static void begin(Agent agent, String sandbox) {
        Answer begun =
                agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", UNTIL_RELEASED, "background", true));
        assertThat(begun.status()).as(begun.text()).isEqualTo("running");
        await("the first one to run")
                .atMost(Duration.ofSeconds(30))
                .until(() -> read(agent, begun.executionId(), 0).stdout().equals("begun\n"));
    }

    private static Answer queued(Agent agent, String sandbox, int place) {
        String code = "ran.append(%d)\nprint(ran[-1])".formatted(place);
        return agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", code, "background", true));
    }

    private static Answer read(Agent agent, String executionId, int wait) {
        return agent.call("sandbox_get_execution", Map.of("execution_id", executionId, "wait", wait));
    }

    private static void assertRejected(Answer answer) {
        assertThat(answer.status()).as(answer.text()).isEqualTo("rejected");
        assertThat(answer.failed()).isTrue();
        assertThat(answer.text())
                .startsWith("[rejected] Not started: 8 executions wait for kernel python/default already")
                .contains("Wait for running executions to end, or interrupt one.");
    }
}
