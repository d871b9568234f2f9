package dev.sandglass.e2e.toolserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.GatewayReplicas;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Kubectl;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** Calls of shared servers, and what becomes of them when a gateway ends. */
@Isolated("it ends replicas of the gateway")
class SharedServersReplicasE2E {

    private static final int CALLS = 6;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Installation installation = Installation.current();
    private final GatewayReplicas replicas = new GatewayReplicas(installation);
    private final Kubectl kubectl = Kubectl.of(installation);
    private final SharedServer slow = new SharedServer(kubectl, "shared-slow");

    @BeforeEach
    void apply() {
        slow.apply("SECONDS", "1.5", Map.of());
        slow.awaitReady();
    }

    @AfterEach
    void close() {
        slow.delete();
        replicas.two();
        replicas.close();
    }

    /** The call that is under way raises or is answered; those after it go by the other replica. */
    @Test
    void anExecutionGoesOnWhenTheGatewayThatCarriesItsCallCrashes() {
        assumeTrue(installation.ownNode().isPresent(), "needs a node that can be entered");
        String sandbox = SANDBOXES.start();
        List<Pod> pods = replicas.two();
        Agent other = replicas.agentOf(pods.get(1));
        Agent first = replicas.agentOf(pods.get(0));
        slow.awaitAnswer(first, sandbox);

        String id = first.call("sandbox_run_code", Map.of("sandbox", sandbox, "background", true, "code", """
                        import mcptools
                        outcomes = []
                        for n in range(%d):
                            try:
                                outcomes.append(mcptools.call("shared_slow", "greet", {"name": str(n)}))
                            except mcptools.ToolRunnerError as error:
                                outcomes.append(type(error).__name__)
                            print("done", n, flush=True)
                        """.formatted(
                                CALLS)))
                .executionId();
        replicas.crash(pods.get(0));
        Answer whole = await("the end of the execution")
                .atMost(Duration.ofMinutes(2))
                .until(
                        () -> other.call("sandbox_get_execution", Map.of("execution_id", id, "wait", 20)),
                        answer -> !answer.status().equals("running"));

        assertThat(whole.status()).as(whole.text()).isEqualTo("ok");
        assertThat(whole.stdout()).contains("done " + (CALLS - 1));
        assertThat(other.python(sandbox, "[one for one in outcomes if not one.startswith('Hello')]")
                        .result())
                .isIn("[]", "['Unreachable']");
        assertThat(other.python(sandbox, "outcomes[-1]").result()).isEqualTo("'Hello, " + (CALLS - 1) + "'");
    }

    /** It ends the call that it has, and the calls after that go by another replica: code notices nothing. */
    @Test
    void aReplicaThatIsDrainedLosesNoCall() {
        List<Pod> pods = replicas.two();
        Agent other = replicas.agentOf(pods.get(1));
        Agent first = replicas.agentOf(pods.get(0));
        String sandbox = SANDBOXES.start();
        Answer warm = first.python(sandbox, "import mcptools; mcptools.call('shared_slow', 'greet', {'name': 'warm'})");
        assertThat(warm.failed()).as(warm.text()).isFalse();

        String id = first.call("sandbox_run_code", Map.of("sandbox", sandbox, "background", true, "code", """
                        import mcptools
                        outcomes = []
                        for n in range(%d):
                            try:
                                outcomes.append(mcptools.call("shared_slow", "greet", {"name": str(n)}))
                            except mcptools.ToolRunnerError as error:
                                outcomes.append(f"{type(error).__name__}: {error}")
                        """.formatted(
                                3 * CALLS)))
                .executionId();
        replicas.drain(pods.get(0));
        Answer whole = await("the end of the execution")
                .atMost(Duration.ofMinutes(2))
                .until(
                        () -> other.call("sandbox_get_execution", Map.of("execution_id", id, "wait", 20)),
                        answer -> !answer.status().equals("running"));

        assertThat(whole.status()).as(whole.text()).isEqualTo("ok");
        assertThat(other.python(sandbox, "[one for one in outcomes if not one.startswith('Hello')]")
                        .result())
                .isEqualTo("[]");
        assertThat(other.python(sandbox, "len(outcomes)").result()).isEqualTo(String.valueOf(3 * CALLS));
    }

    /** Nobody asks about the run, and the other replica never had to do with its sandbox: it adopts it by itself. */
    @Test
    void aRunInTheBackgroundCallsToolsAfterItsGatewayDied() {
        assumeTrue(installation.ownNode().isPresent(), "needs a node that can be entered");
        List<Pod> pods = replicas.two();
        Agent first = replicas.agentOf(pods.get(0));
        String sandbox = SANDBOXES.name();
        Answer started = FreshSandboxes.broughtUp(() -> first.start(sandbox));
        assertThat(started.failed()).as(started.text()).isFalse();
        Answer begun = first.call(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "background", true, "timeout", 300, "code", """
                        import mcptools, os, time
                        while not os.path.exists("/workspace/go-on"):
                            time.sleep(0.1)
                        outcomes = []
                        for _ in range(%d):
                            try:
                                outcomes.append(mcptools.call("shared_slow", "greet", {"name": "orphan"}))
                                break
                            except mcptools.ToolRunnerError as error:
                                outcomes.append(type(error).__name__)
                        with open("/workspace/outcomes.part", "w") as file:
                            file.write(repr(outcomes))
                        os.rename("/workspace/outcomes.part", "/workspace/outcomes")
                        """.formatted(CALLS)));
        assertThat(begun.status()).as(begun.text()).isEqualTo("running");

        replicas.crash(pods.get(0));
        // Not through a gateway, which would open a link.
        kubectl.in(sandbox, "touch", "/workspace/go-on");
        String outcomes = await("the code to tell what came of its call")
                .atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofSeconds(1))
                .until(
                        () -> kubectl.in(sandbox, "sh", "-c", "cat /workspace/outcomes 2>/dev/null || true"),
                        told -> !told.isBlank());

        assertThat(outcomes.strip()).isIn("['Hello, orphan']", "['Unreachable', 'Hello, orphan']");
    }
}
