package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Code that runs longer than anybody wants to wait: time-outs, background runs, reading on by execution_id. */
class LongRunE2E {

    /** A time-out that ends no code before it has begun, on a busy node too. */
    private static final int SHORT_S = 3;

    @RegisterExtension
    static final FreshSandboxes SHARED = FreshSandboxes.perClass();

    @RegisterExtension
    static final FreshSandboxes OWN = FreshSandboxes.perTest();

    private static String sandbox = "";

    private final Agent agent = SHARED.agent();

    @BeforeAll
    static void start() {
        sandbox = SHARED.start();
    }

    /** Of the test before, which may have failed while its code ran, nothing is left but files. */
    @BeforeEach
    void freshVariables() {
        agent.reset(sandbox, "python");
    }

    private static String waitForFile(String name) {
        return """
                import os, time
                print("begun", flush=True)
                while not os.path.exists("/workspace/%s"):
                    time.sleep(0.01)
                print("ended")
                "the value"
                """.formatted(name);
    }

    @Test
    void aTimeOutInterruptsTheCodeAndKeepsTheVariables() {
        agent.python(sandbox, "kept = 'still here'");

        Answer late = agent.call(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", "print('part', flush=True)\nwhile True: pass", "timeout", SHORT_S));

        assertThat(late.status()).isEqualTo("timeout");
        assertThat(late.failed()).isTrue();
        assertThat(late.stdout()).isEqualTo("part\n");
        assertThat(late.flag("kernel_restarted")).isFalse();
        assertThat(agent.python(sandbox, "kept").result()).isEqualTo("'still here'");
    }

    @Test
    void codeThatIgnoresInterruptsIsEndedWithItsKernel() {
        agent.python(sandbox, "kept = 1");

        Answer stuck = agent.call(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", "sum(range(10 ** 12))", "timeout", 1));
        Answer next = agent.python(sandbox, "kept");

        assertThat(stuck.status()).isEqualTo("timeout");
        assertThat(stuck.flag("kernel_restarted")).isTrue();
        // Left alone it takes hours.
        assertThat(stuck.number("duration_ms")).isBetween(1_000L, 15_000L);
        assertThat(next.object("error").get("name")).isEqualTo("NameError");
    }

    @Test
    void aTimeOutEndsACommandToo() {
        Answer late = agent.call(
                "sandbox_run_command",
                Map.of(
                        "sandbox",
                        sandbox,
                        "command",
                        "sh",
                        "args",
                        List.of("-c", "echo part; sleep 600"),
                        "timeout",
                        SHORT_S));

        assertThat(late.status()).isEqualTo("timeout");
        assertThat(late.stdout()).isEqualTo("part\n");
        await("sleep to be gone")
                .atMost(Duration.ofSeconds(20))
                .until(() -> agent.command(sandbox, "pgrep", "sleep").number("exit_code") == 1);
    }

    @Test
    void aBackgroundRunIsReadByItsExecutionId() {
        Answer begun = agent.call(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", waitForFile("read-on"), "background", true));
        assertThat(begun.status()).isEqualTo("running");
        assertThat(begun.failed()).isFalse();
        await("the first line")
                .atMost(Duration.ofSeconds(30))
                .until(() -> read(begun.executionId(), 0).stdout().equals("begun\n"));
        Answer soFar = read(begun.executionId(), 0);
        assertThat(soFar.status()).isEqualTo("running");
        agent.command(sandbox, "touch", "/workspace/read-on");
        Answer rest = read(begun.executionId(), 20, soFar.number("next_offset"));

        assertThat(rest.status()).isEqualTo("ok");
        assertThat(rest.stdout()).isEqualTo("ended\n");
        assertThat(rest.result()).isEqualTo("'the value'");
        assertThat(read(begun.executionId(), 0).stdout()).isEqualTo("begun\nended\n");
    }

    @Test
    void waitEndsTheCallButNotTheCode() {
        Answer running =
                agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", waitForFile("waited"), "wait", 4));
        assertThat(running.status()).isEqualTo("running");
        assertThat(running.stdout()).isEqualTo("begun\n");
        assertThat(running.text()).contains(running.executionId(), "sandbox_get_execution");
        agent.command(sandbox, "touch", "/workspace/waited");

        assertThat(read(running.executionId(), 20).status()).isEqualTo("ok");
    }

    @Test
    void anExecutionOfAPodThatIsGoneIsLost() {
        // Its pod ends.
        String stopped = OWN.start();
        Answer done = agent.python(stopped, "print('gone soon')");
        agent.call("sandbox_stop", Map.of("sandbox", stopped));
        OWN.bringUp(stopped);

        Answer lost = read(done.executionId(), 0);

        assertThat(lost.status()).isEqualTo("lost");
        assertThat(lost.failed()).isTrue();
    }

    @Test
    void aQueuedRunTellsItsPlaceAndRunsInTurn() {
        Answer first = agent.call(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", waitForFile("first-of-two"), "background", true));

        Answer second = agent.call(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", "print('second')", "background", true));
        assertThat(second.status()).isEqualTo("running");
        assertThat(second.number("queue_position")).isEqualTo(1);
        agent.command(sandbox, "touch", "/workspace/first-of-two");

        assertThat(read(first.executionId(), 20).status()).isEqualTo("ok");
        assertThat(read(second.executionId(), 20).stdout()).isEqualTo("second\n");
    }

    private Answer read(String executionId, int wait) {
        return read(executionId, wait, 0);
    }

    private Answer read(String executionId, int wait, long offset) {
        return agent.call("sandbox_get_execution", Map.of("execution_id", executionId, "wait", wait, "offset", offset));
    }
}
