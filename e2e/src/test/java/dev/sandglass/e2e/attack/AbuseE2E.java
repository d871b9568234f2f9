package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.StreamedCall;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Code that does its worst to its own sandbox: that one survives or says honestly how it did not; a neighbour works on. */
@Isolated("its bombs take the processors")
class AbuseE2E {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    // Left alone they run for ten minutes.
    private static final Duration SOON = Duration.ofSeconds(20);
    // The supervisor, a kernel and their threads are about fifteen.
    private static final long FEW_PROCESSES = 40;

    @RegisterExtension
    static final FreshSandboxes NEIGHBOURS = FreshSandboxes.perClass();

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static Neighbour neighbour;

    private final Agent agent = SANDBOXES.agent();

    /** What the code does, and how that may end. */
    enum Abuse {
        FORKS("""
                import os, time
                try:
                    while True:
                        if os.fork() == 0:
                            time.sleep(3600)
                except OSError as problem:
                    print(problem.errno)
                """, "ok or oom_killed"),
        FORK_BOMB("""
                import os
                while True:
                    try:
                        os.fork()
                    except OSError:
                        pass
                """, "timeout or oom_killed"),
        THREADS("""
                import threading
                try:
                    while True:
                        threading.Thread(target=threading.Event().wait, daemon=True).start()
                except RuntimeError as problem:
                    print(problem)
                """, "ok or oom_killed"),
        MEMORY("hoard = []\nwhile True: hoard.append(bytearray(1 << 20))", "oom_killed"),
        FLOOD("while True: print('x' * 1000)", "timeout"),
        CLOSED_DESCRIPTORS("import os\nos.closerange(3, 4096)\nprint('gone')", "kernel_died or timeout or ok"),
        CLOSED_OUTPUT("import os\nos.close(1); os.close(2)\nprint('still')", "ok or kernel_died"),
        KILLED_PARENT("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "error"),
        KILLED_ALL("""
                import os, signal
                os.kill(-1, signal.SIGKILL)
                """, "error"),
        KILLED_ITSELF("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "kernel_died"),
        STOPPED_ITSELF("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "timeout"),
        ENDED_THE_PROCESS("import os\nos._exit(3)", "kernel_died"),
        CRASHED("import ctypes\nctypes.string_at(0)", "kernel_died"),
        DEEP_RECURSION(
                "import sys\nsys.setrecursionlimit(10**9)\ndef f(): f()\nf()", "kernel_died or error or oom_killed"),
        UNLINKED_SOCKETS("""
                import glob, os
                for path in glob.glob('/run/sandglass/**', recursive=True):
                    try:
                        os.unlink(path)
                    except OSError:
                        pass
                """, "ok");

        private final String code;
        private final String statuses;

        Abuse(String code, String statuses) {
            this.code = code;
            this.statuses = statuses;
        }
    }

    @BeforeAll
    static void moveIn() {
        neighbour = Neighbour.in(NEIGHBOURS.start());
    }

    @AfterAll
    static void moveOut() {
        neighbour.close();
    }

    @ParameterizedTest
    @EnumSource
    void itEndsWithTheCauseAndTheSandboxGoesOn(Abuse abuse) {
        String sandbox = SANDBOXES.start();
        agent.python(sandbox, "open('/workspace/kept', 'w').write('kept')");

        // What has an end of its own comes to it late on a busy node.
        int timeout = abuse.statuses.contains("timeout") ? 6 : 20;
        Answer ended = agent.call(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", abuse.code, "timeout", timeout, "wait", 50));

        assertThat(ended.status()).as(ended.text()).isIn((Object[]) abuse.statuses.split(" or "));
        if (!ended.status().equals("ok")) {
            assertThat(ended.text()).isNotBlank();
        }
        await("the sandbox to work again").atMost(PATIENCE).until(() -> "2"
                .equals(agent.python(sandbox, "1 + 1").result()));
        assertThat(agent.python(sandbox, "open('/workspace/kept').read()").result())
                .isEqualTo("'kept'");
        neighbour.awaitCalls(5);
    }

    /** A command that multiplies: within its process group, or in sessions of its own that each live for a moment. */
    enum Bomb {
        ONE_GROUP("bash", "b() { b | b & }; b; wait"),
        MANY_SESSIONS("python3", """
                import os, time
                for _ in range(100):
                    if os.fork() == 0:
                        while True:
                            try:
                                if os.fork() > 0:
                                    os._exit(0)
                                os.setsid()
                            except BlockingIOError:
                                time.sleep(0.001)
                time.sleep(600)
                """);

        private final String program;
        private final String script;

        Bomb(String program, String script) {
            this.program = program;
            this.script = script;
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBombOfProcessesInACommandEndsWithTheCommand(Bomb bomb) {
        String sandbox = SANDBOXES.start();

        Answer ended = agent.call(
                "sandbox_run_command",
                Map.of(
                        "sandbox",
                        sandbox,
                        "command",
                        bomb.program,
                        "args",
                        List.of("-c", bomb.script),
                        "timeout",
                        4,
                        "wait",
                        50));

        assertThat(ended.status()).as(ended.text()).isIn("timeout", "ok", "error");
        await("the processes to be gone").atMost(SOON).until(() -> processes(sandbox) < FEW_PROCESSES);
        await("the sandbox to work again").atMost(PATIENCE).until(() -> "2"
                .equals(agent.python(sandbox, "1 + 1").result()));
        neighbour.awaitCalls(5);
    }

    @Test
    void aBombOfProcessesThatCodeLeftInSessionsOfTheirOwnEndsWithAReset() {
        String sandbox = SANDBOXES.start();
        agent.command(
                sandbox, "bash", "-c", "cat > /workspace/bomb.py <<'END'\n" + Bomb.MANY_SESSIONS.script + "\nEND");
        agent.python(sandbox, "import subprocess\nsubprocess.Popen(['python3', '/workspace/bomb.py'])");
        await("the bomb").atMost(PATIENCE).until(() -> processes(sandbox) > FEW_PROCESSES);

        Answer reset = agent.call("sandbox_reset", Map.of("sandbox", sandbox));

        assertThat(reset.failed()).as(reset.text()).isFalse();
        await("the processes to be gone").atMost(SOON).until(() -> processes(sandbox) < FEW_PROCESSES);
        assertThat(agent.python(sandbox, "1 + 1").result()).isEqualTo("2");
        neighbour.awaitCalls(5);
    }

    @Test
    void whatACommandLeavesRunningOnPurposeRunsOn() {
        String sandbox = SANDBOXES.start();
        String script = "setsid sleep 600 & nohup sleep 600 >/dev/null 2>&1 & echo started";
        agent.call("sandbox_run_command", Map.of("sandbox", sandbox, "command", "bash", "args", List.of("-c", script)));

        Answer ended = agent.call(
                "sandbox_run_command",
                Map.of("sandbox", sandbox, "command", "sleep", "args", List.of("600"), "timeout", 1));

        assertThat(ended.status()).as(ended.text()).isEqualTo("timeout");
        assertThat(agent.python(sandbox, "import subprocess; subprocess.getoutput('pgrep -c -x sleep')")
                        .result())
                .isEqualTo("'2'");
    }

    /** Processes and threads of the whole pod. */
    private long processes(String sandbox) {
        Map<?, ?> metrics = (Map<?, ?>) agent.call("sandbox_get_metrics", Map.of("sandbox", sandbox))
                .list("sandboxes")
                .getFirst();
        return metrics.get("pids") instanceof Number number ? number.longValue() : Long.MAX_VALUE;
    }

    @Test
    void aKilledSiblingIsToldToThoseWhoUseIt() {
        String sandbox = SANDBOXES.start();
        StreamedCall other = agent.stream(
                "sandbox_run_code",
                Map.of(
                        "sandbox",
                        sandbox,
                        "session",
                        "other",
                        "code",
                        "import os; print(os.getpid(), flush=True)\nwhile True: pass"));
        other.awaitOutput("\n");

        agent.python(sandbox, """
                import os, signal
                for pid in filter(str.isdigit, os.listdir('/proc')):
                    if int(pid) not in (1, os.getpid()):
                        try:
                            os.kill(int(pid), signal.SIGKILL)
                        except OSError:
                            pass
                """);

        Answer killed = other.answer();
        assertThat(killed.status()).isEqualTo("kernel_died");
        assertThat(killed.flag("kernel_restarted")).isTrue();
        neighbour.awaitCalls(5);
    }

    @Test
    void aFullDiskIsAnErrorOrAnEvictionThatIsTold() {
        String sandbox = SANDBOXES.start(Map.of("disk", "64Mi"));

        Answer ended =
                agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "timeout", 120, "wait", 200, "code", """
                import time
                with open('/workspace/big', 'wb') as file:
                    for _ in range(128):
                        file.write(bytes(1 << 20))
                        file.flush()
                while True:
                    time.sleep(1)
                """));

        assertThat(ended.status()).as(ended.text()).isIn("error", "lost");
        assertThat(ended.text()).containsAnyOf("No space left", "Evicted", "evicted", "disk");
        assertThat(SANDBOXES.bringUp(sandbox).failed()).isFalse();
        assertThat(agent.python(sandbox, "1 + 1").result()).isEqualTo("2");
        neighbour.awaitCalls(5);
    }
}
