package dev.sandglass.gateway.contract.dropin.ipython;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.sandglass.gateway.execution.Session;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The interpreter that a session is told to run, from text of the sandbox. */
class KernelsTest {

    private static Session in(String env) {
        return new Session(new Session.Name("python", "a"), "idle", 1, 1.0, env, null, true);
    }

    @ParameterizedTest
    @CsvSource({
        ", /opt/sandglass/bin/python",
        "mine, /workspace/envs/mine/bin/python",
        "a/b//, /workspace/a/b/bin/python",
        "~/x/, /workspace/x/bin/python",
        "/opt/y, /opt/y/bin/python",
        "/, /bin/python",
    })
    void aSessionsInterpreterHasAnAbsolutePath(String env, String python) {
        assertThat(Kernels.python(in(env))).isEqualTo(python);
    }

    @Test
    void anEnvironmentOfSlashesTakesNoTime() {
        String env = "/".repeat(1_000_000) + "a";

        assertTimeoutPreemptively(
                Duration.ofSeconds(5), () -> assertThat(Kernels.python(in(env))).endsWith("a/bin/python"));
    }
}
