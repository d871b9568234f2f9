package dev.sandglass.e2e.attack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Shared memory is of the sandbox's memory, goes with the session that made it, and is named where it fills all. */
class SharedMemoryE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private static final Tenant TENANT = Tenant.of(Installation.current());
    private static final Map<String, Object> SMALL = Map.of("memory", 512);

    private final Agent agent = SANDBOXES.agent();

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private Answer in(String sandbox, String session, String code) {
        return agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "session", session, "code", code));
    }

    @Test
    void itHasTheSizeOfTheMemory() {
        String sandbox = SANDBOXES.start(SMALL);

        assertThat(agent.python(sandbox, "import shutil; shutil.disk_usage('/dev/shm').total >> 20")
                        .result())
                .isEqualTo("512");
    }

    @Test
    void aResetGivesBackWhatTheSessionMadeAndNothingElse() {
        String sandbox = SANDBOXES.start(SMALL);
        in(sandbox, "other", """
                from multiprocessing.shared_memory import SharedMemory
                kept = SharedMemory('kept', create=True, size=1 << 20)
                kept.buf[:4] = b'kept'
                """);
        for (int turn = 0; turn < 3; turn++) {
            Answer filled = agent.python(sandbox, "open('/dev/shm/filled', 'wb').write(bytes(200 << 20))");
            assertThat(filled.status()).as(filled.text()).isEqualTo("ok");
            agent.call("sandbox_reset", Map.of("sandbox", sandbox));
        }

        assertThat(agent.python(sandbox, "import multiprocessing, os; multiprocessing.Lock(); os.listdir('/dev/shm')")
                        .result())
                .isEqualTo("['kept']");
        assertThat(in(sandbox, "other", "bytes(kept.buf[:4])").result()).isEqualTo("b'kept'");
    }

    @Test
    void whatFillsTheMemoryIsNamedAndGivenBack() {
        String sandbox = SANDBOXES.start(SMALL);
        String container = TENANT.containerOf(sandbox);

        Answer killed = agent.python(
                sandbox, "with open('/dev/shm/full', 'wb', 0) as full:\n  while True: full.write(bytes(1 << 20))");

        assertThat(killed.status()).as(killed.text()).isEqualTo("oom_killed");
        assertThat(killed.text()).contains("shared memory, such as files in /dev/shm");
        assertThat(agent.python(sandbox, "import os; os.listdir('/dev/shm')").result())
                .isEqualTo("[]");
        assertThat(TENANT.containerOf(sandbox)).isEqualTo(container);
    }

    @Test
    void manySmallProcessesOfACommandEndBeforeTheSupervisor() {
        String sandbox = SANDBOXES.start(SMALL);
        String container = TENANT.containerOf(sandbox);
        String bomb = """
                import os, time
                for _ in range(45):
                    if os.fork() == 0:
                        held = bytearray(os.urandom(1) * (16 << 20))
                        time.sleep(5)
                        os._exit(0)
                while True:
                    try: os.wait()
                    except ChildProcessError: break
                """;

        agent.command(sandbox, "python3", "-I", "-c", bomb);

        assertThat(agent.python(sandbox, "6 * 7").result()).isEqualTo("42");
        assertThat(TENANT.containerOf(sandbox)).isEqualTo(container);
    }
}
