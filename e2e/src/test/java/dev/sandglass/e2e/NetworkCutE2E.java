package dev.sandglass.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The pod's network is gone for ten seconds while code runs in it: nothing of the execution is lost. */
class NetworkCutE2E {

    private static final Duration CUT = Duration.ofSeconds(10);
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

    private void cut(String sandbox) {
        assumeTrue(installation.ownNode().isPresent(), "needs a node that can be entered");
        try (Tenant tenant = Tenant.of(installation)) {
            installation.ownNode().orElseThrow().cutNetwork(tenant.containerOf(sandbox), CUT);
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
