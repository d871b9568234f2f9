package dev.sandglass.e2e.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Node;
import dev.sandglass.e2e.support.StreamedCall;
import dev.sandglass.e2e.support.Tenant;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/** The pod's network is gone while code runs in it, or is sent to it: nothing is lost, and nothing runs twice. */
@Isolated("it cuts the node's network")
class NetworkCutE2E {

    private static final Duration CUT = Duration.ofSeconds(10);
    // Longer than a sandbox may take to take a run.
    private static final Duration LONG_CUT = Duration.ofSeconds(25);
    private static final String NOTE = "with open('/workspace/notes', 'a') as f: _ = f.write('%d\\n')";
    private static final int LINES = 150;
    private static final String COUNT = """
            import time
            for i in range(%d):
                print("line", i, flush=True)
                time.sleep(0.1)
            "counted"
            """.formatted(LINES);

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Installation installation = Installation.current();
    private final Agent agent = SANDBOXES.agent();

    @Test
    void theCallThatWaitsGetsTheWholeOutput() {
        String sandbox = SANDBOXES.start();
        StreamedCall call = agent.stream("sandbox_run_code", Map.of("sandbox", sandbox, "code", COUNT));
        call.awaitOutput("line 5\n");

        cut(sandbox);

        Answer whole = call.answer();
        assertThat(whole.status()).isEqualTo("ok");
        assertThat(whole.stdout()).isEqualTo(lines());
        assertThat(whole.result()).isEqualTo("'counted'");
    }

    @Test
    void theTimeOutHoldsMeanwhileAndTheRestIsReadLater() {
        String sandbox = SANDBOXES.start();
        Answer begun = agent.call(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", COUNT, "background", true, "timeout", 4));

        cut(sandbox);

        Answer ended = agent.call("sandbox_get_execution", Map.of("execution_id", begun.executionId(), "wait", 30));
        assertThat(ended.status()).isEqualTo("timeout");
        assertThat(ended.number("duration_ms")).isBetween(4_000L, 7_000L);
        assertThat(lines()).startsWith(ended.stdout());
        assertThat(ended.stdout()).contains("line 30\n").doesNotContain("line 60\n");
    }

    @Test
    void whatWasSentIntoTheCutIsToldByItsIdAndRunsAtMostOnce() {
        Node node = ownNode();
        String sandbox = SANDBOXES.start();
        assertThat(agent.python(sandbox, NOTE.formatted(0)).status())
                .as("the link is open")
                .isEqualTo("ok");

        Answer told = node.whileCut(containerOf(sandbox), LONG_CUT, () -> agent.python(sandbox, NOTE.formatted(1)));

        assertThat(told.status()).isEqualTo("running");
        assertThat(told.data().get("warning")).asString().contains("before you run it again");
        Answer end = agent.call("sandbox_get_execution", Map.of("execution_id", told.executionId(), "wait", 30));
        assertThat(end.status()).isIn("ok", "rejected");
        Answer notes = agent.python(sandbox, "open('/workspace/notes').read().split().count('1')");
        assertThat(notes.result()).isEqualTo(end.status().equals("ok") ? "1" : "0");
    }

    private void cut(String sandbox) {
        ownNode().cutNetwork(containerOf(sandbox), CUT);
    }

    private Node ownNode() {
        assumeTrue(installation.ownNode().isPresent(), "needs a node that can be entered");
        return installation.ownNode().orElseThrow();
    }

    private String containerOf(String sandbox) {
        try (Tenant tenant = Tenant.of(installation)) {
            return tenant.containerOf(sandbox);
        }
    }

    private static String lines() {
        var text = new StringBuilder();
        for (int i = 0; i < LINES; i++) {
            text.append("line ").append(i).append('\n');
        }
        return text.toString();
    }
}
