package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.PlainCall;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A caller that goes away: its code is interrupted, unless it was started in the background. */
class CancellationE2E {

    private static final String ENDLESS = """
            import time
            print('begun', flush=True)
            try:
                while True: time.sleep(0.05)
            except KeyboardInterrupt:
                interrupted = True
                raise
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Installation installation = Installation.current();
    private final Agent agent = SANDBOXES.agent();

    @Test
    void closingTheConnectionInterruptsTheCodeAndKeepsTheKernel() {
        String sandbox = SANDBOXES.start();
        agent.python(sandbox, "interrupted = False");

        try (PlainCall leaving = PlainCall.open(
                installation.endpoint(),
                installation.token(),
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", ENDLESS))) {
            leaving.awaitOutput("begun");
        }

        // The kernel runs one thing at a time, so this answer comes only after the interrupt.
        assertThat(agent.python(sandbox, "interrupted").result()).isEqualTo("True");
    }

    @Test
    void codeInTheBackgroundOutlivesItsCaller() {
        String sandbox = SANDBOXES.start();
        Answer begun;
        try (Agent leaving = installation.agent()) {
            begun = leaving.call(
                    "sandbox_run_code", Map.of("sandbox", sandbox, "code", ENDLESS, "background", true, "timeout", 4));
        }

        Answer ended = agent.call("sandbox_get_execution", Map.of("execution_id", begun.executionId(), "wait", 20));

        assertThat(ended.status()).as("its own end, not its caller's").isEqualTo("timeout");
    }
}
