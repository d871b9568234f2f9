package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.StreamedCall;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Programs in a sandbox, as an agent sees them. */
class RunCommandE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
    }

    @Test
    void theExitCodeIsTold() {
        Answer good = agent.command(sandbox, "sh", "-c", "echo out; echo err >&2");
        Answer bad = agent.command(sandbox, "sh", "-c", "echo out; exit 7");

        assertThat(good.status()).isEqualTo("ok");
        assertThat(good.number("exit_code")).isZero();
        assertThat(good.stdout()).isEqualTo("out\n");
        assertThat(good.stderr()).isEqualTo("err\n");
        assertThat(good.failed()).isFalse();
        assertThat(bad.status()).isEqualTo("ok");
        assertThat(bad.text()).isEqualTo("[exit code 7]\nout\n");
        assertThat(bad.number("exit_code")).isEqualTo(7);
        assertThat(bad.stdout()).isEqualTo("out\n");
        assertThat(bad.failed()).isFalse();
    }

    @Test
    void argumentsReachTheProgramAsTheyAre() {
        Answer answer = agent.command(sandbox, "printf", "%s|", "two words", "$HOME", "*", "a'b\"c");

        assertThat(answer.stdout()).isEqualTo("two words|$HOME|*|a'b\"c|");
    }

    @Test
    void standardInputAndWorkingDirectoryAreTheCallers() {
        Map<String, Object> arguments = Map.of(
                "sandbox",
                sandbox,
                "command",
                "sh",
                "args",
                List.of("-c", "pwd; cat"),
                "cwd",
                "/tmp",
                "stdin",
                "typed");
        Answer answer = agent.call("sandbox_run_command", arguments);

        assertThat(answer.stdout()).isEqualTo("/tmp\ntyped");
    }

    @Test
    void theHomeFolderIsTheWorkspace() {
        Answer answer = agent.call(
                "sandbox_run_command",
                Map.of("sandbox", sandbox, "command", "mkdir -p ~/mine && cd ~/mine && pwd", "cwd", "~"));

        assertThat(answer.stdout()).isEqualTo("/workspace/mine\n");
    }

    @Test
    void aCommandLineIsForBash() {
        Answer line = agent.call(
                "sandbox_run_command",
                Map.of(
                        "sandbox",
                        sandbox,
                        "command",
                        "set -o pipefail\r\na=({1..3})\r\n[[ ${#a[@]} == 3 ]] && cat <(echo ${a[2]}) &>out; cat out\r\n"));
        Answer named = agent.command(sandbox, "sh", "-c", "echo ${BASH_VERSION:-none}");
        Answer code = agent.python(sandbox, "!cat <(echo ${BASH_VERSION:+bash})");

        assertThat(line.stdout()).isEqualTo("3\n");
        assertThat(named.stdout()).as("who names sh gets sh").isEqualTo("none\n");
        assertThat(code.stdout().strip()).isEqualTo("bash");
    }

    @Test
    void aProgramThatIsNotThereIsAnErrorThatNamesIt() {
        Answer answer = agent.command(sandbox, "no-such-program-e2e");

        assertThat(answer.failed()).isTrue();
        assertThat(answer.text()).contains("no-such-program-e2e");
    }

    @Test
    void commandsAndCodeSeeTheSameFiles() {
        agent.python(sandbox, "open('shared.txt', 'w').write('written by code')");

        assertThat(agent.command(sandbox, "cat", "shared.txt").stdout()).isEqualTo("written by code");
    }

    @Test
    void aCommandRunsWhileCodeIsBusy() {
        // In a session of its own: should the command not run, the code of other tests does not wait behind this.
        StreamedCall busy =
                agent.stream("sandbox_run_code", Map.of("sandbox", sandbox, "session", "busy", "code", """
                import os, time
                print("busy", flush=True)
                while not os.path.exists("/workspace/go-on"):
                    time.sleep(0.01)
                """));
        busy.awaitOutput("busy");

        Answer command = agent.command(sandbox, "touch", "/workspace/go-on");

        assertThat(command.status()).isEqualTo("ok");
        assertThat(busy.answer().status()).isEqualTo("ok");
    }
}
