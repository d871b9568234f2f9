package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Python interpreters that the user made inside the sandbox: a session runs in one, or is told what is missing. */
class PythonEnvE2E {

    private static final String PREFIX = "import sys; print(sys.prefix, end='')";

    /** Nothing can be installed without a network: the environment borrows the image's packages by their path. */
    private static final String LEND_PACKAGES = """
            python3 -m venv --without-pip "$HOME/envs/$1" &&
            python3 -c 'import ipykernel, pathlib; print(pathlib.Path(ipykernel.__file__).parents[1])' \
              > "$(echo "$HOME/envs/$1"/lib/python3*/site-packages)/lent.pth"
            """;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perTest();

    private final Agent agent = SANDBOXES.agent();

    private void make(String sandbox, String env) {
        Answer made = agent.command(sandbox, "sh", "-c", LEND_PACKAGES, "sh", env);
        assertThat(made.number("exit_code")).as(made.text()).isZero();
    }

    private Answer run(String sandbox, String session, String env, String code) {
        return agent.call(
                "sandbox_run_code", Map.of("sandbox", sandbox, "session", session, "python_env", env, "code", code));
    }

    @Test
    void aSessionRunsInTheEnvThatItBeginsWithAlsoAfterAReset() {
        String sandbox = SANDBOXES.start();
        make(sandbox, "data");

        assertThat(run(sandbox, "default", "data", PREFIX).stdout()).isEqualTo("/workspace/envs/data");
        assertThat(run(sandbox, "other", "~/envs/data", PREFIX).stdout()).isEqualTo("/workspace/envs/data");
        assertThat(agent.python(sandbox, "x = 41").failed()).isFalse();
        assertThat(agent.python(sandbox, "x + 1").result()).isEqualTo("42");

        agent.call("sandbox_reset", Map.of("sandbox", sandbox));
        assertThat(agent.python(sandbox, PREFIX).stdout()).isEqualTo("/workspace/envs/data");
    }

    @Test
    void anotherEnvLaterIsAWarningUntilTheSessionIsClosed() {
        String sandbox = SANDBOXES.start();
        make(sandbox, "data");
        String own = agent.python(sandbox, PREFIX).stdout();

        Answer warned = run(sandbox, "default", "data", PREFIX);
        agent.call("sandbox_close_session", Map.of("sandbox", sandbox));
        Answer anew = run(sandbox, "default", "data", PREFIX);

        assertThat(warned.failed()).isFalse();
        assertThat(warned.stdout()).isEqualTo(own);
        assertThat(warned.data().get("warning"))
                .asString()
                .contains("runs in the sandbox's own Python", "python_env 'data'");
        assertThat(anew.stdout()).isEqualTo("/workspace/envs/data");
        assertThat(anew.data().get("warning")).isNull();
    }

    @Test
    void anEnvWithoutIpykernelIsToldWithWhatInstallsIt() {
        String sandbox = SANDBOXES.start();
        agent.command(sandbox, "python3", "-m", "venv", "--without-pip", "/workspace/bare");

        Answer refused = run(sandbox, "default", "/workspace/bare", "1");

        assertThat(refused.status()).isEqualTo("env_error");
        assertThat(refused.failed()).isTrue();
        assertThat(refused.text()).contains("ipykernel not found in env '/workspace/bare'", "-m pip install ipykernel");
        assertThat(agent.python(sandbox, "1 + 1").result()).isEqualTo("2");
    }

    @Test
    void aMissingEnvIsToldWithWhatMakesIt() {
        String sandbox = SANDBOXES.start();

        Answer refused = run(sandbox, "s", "none", "1");

        assertThat(refused.status()).isEqualTo("env_error");
        assertThat(refused.text()).contains("no interpreter in env 'none'", "python3 -m venv /workspace/envs/none");
    }
}
