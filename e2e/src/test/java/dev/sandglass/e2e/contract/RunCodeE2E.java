package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.StreamedCall;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Code in a sandbox, as an agent sees it: state, output while it runs, outcomes. */
class RunCodeE2E {

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

    @Test
    void stateIsKeptBetweenCalls() {
        assertThat(agent.python(sandbox, "import math\nradius = 2").status()).isEqualTo("ok");
        Answer second = agent.python(sandbox, "round(math.pi * radius ** 2, 3)");

        assertThat(second.status()).isEqualTo("ok");
        assertThat(second.result()).isEqualTo("12.566");
        assertThat(second.failed()).isFalse();
    }

    @Test
    void stateIsNotSharedBetweenSandboxes() {
        // Without what is in the one that the tests share.
        String other = OWN.start();
        agent.python(sandbox, "secret = 'of one'\nopen('/workspace/note', 'w').write(secret)");

        assertThat(agent.python(sandbox, "secret, open('/workspace/note').read()")
                        .result())
                .isEqualTo("('of one', 'of one')");
        Answer variable = agent.python(other, "secret");
        Answer file = agent.python(other, "open('/workspace/note')");

        assertThat(variable.object("error").get("name")).isEqualTo("NameError");
        assertThat(file.object("error").get("name")).isEqualTo("FileNotFoundError");
    }

    @Test
    void outputArrivesWhileTheCodeRuns() {
        // The code cannot end before this test has seen its first line, so no clock is involved.
        String code = """
                import os, time
                print("first line", flush=True)
                while not os.path.exists("/workspace/seen"):
                    time.sleep(0.01)
                print("last line")
                """;

        StreamedCall call = agent.stream("sandbox_run_code", Map.of("sandbox", sandbox, "code", code));
        call.awaitOutput("first line\n");
        assertThat(call.isAnswered()).isFalse();
        assertThat(call.output()).doesNotContain("last line");
        agent.command(sandbox, "touch", "/workspace/seen");
        Answer answer = call.answer();

        assertThat(answer.status()).isEqualTo("ok");
        assertThat(answer.stdout()).isEqualTo("first line\nlast line\n");
        // The SDK hands notifications over beside the answer.
        await("the last piece").atMost(Duration.ofSeconds(10)).until(() -> call.output()
                .equals("first line\nlast line\n"));
        assertThat(call.progress())
                .extracting(ProgressNotification::progress)
                .as("each further than the one before")
                .isSorted()
                .doesNotHaveDuplicates();
    }

    @Test
    void anExceptionIsAnErrorWithItsTraceback() {
        Answer answer = agent.python(sandbox, "def half(n):\n    return n / 0\nprint('before')\nhalf(3)");

        assertThat(answer.status()).isEqualTo("error");
        assertThat(answer.failed()).isTrue();
        assertThat(answer.stdout()).isEqualTo("before\n");
        assertThat(answer.object("error").get("name")).isEqualTo("ZeroDivisionError");
        assertThat(answer.object("error").get("message")).isEqualTo("division by zero");
        assertThat(answer.object("error").get("traceback"))
                .asString()
                .contains("half(3)", "return n / 0", "ZeroDivisionError")
                .doesNotContain("\u001b");
        assertThat(answer.text()).contains("before", "ZeroDivisionError: division by zero");
    }

    @Test
    void standardOutputAndErrorAreKeptApart() {
        Answer answer = agent.python(sandbox, "import sys\nprint('out ä€😀')\nprint('err', file=sys.stderr)\n6 * 7");

        assertThat(answer.stdout()).isEqualTo("out ä€😀\n");
        assertThat(answer.stderr()).isEqualTo("err\n");
        assertThat(answer.result()).isEqualTo("42");
        assertThat(answer.text()).contains("out ä€😀", "err", "42");
    }

    @Test
    void variablesOfOneCallAreGoneInTheNext() {
        String code = "import os\nos.environ.get('E2E_ONCE')";

        Answer with = agent.call(
                "sandbox_run_code", Map.of("sandbox", sandbox, "code", code, "envs", Map.of("E2E_ONCE", "only here")));
        Answer without = agent.python(sandbox, code + ", 'only here' in open('/proc/self/environ').read()");

        assertThat(with.result()).isEqualTo("'only here'");
        assertThat(without.result()).isEqualTo("(None, False)");
    }

    @Test
    void variablesOfTheSandboxReachCodeAndCommands() {
        // Variables are given at the start.
        String greeted = OWN.start(Map.of("envs", List.of("E2E_GREETING=good morning")));

        assertThat(agent.python(greeted, "import os\nos.environ['E2E_GREETING']")
                        .result())
                .isEqualTo("'good morning'");
        assertThat(agent.command(greeted, "printenv", "E2E_GREETING").stdout()).isEqualTo("good morning\n");
    }

    @Test
    void aPictureComesAsAPicture() {
        Answer answer = agent.python(sandbox, """
                import matplotlib.pyplot as plt
                plt.plot([1, 2, 3])
                plt.show()
                """);

        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        assertThat(answer.list("images")).hasSize(1);
    }

    @Test
    void longOutputIsCutInTheMiddleAndSaysSo() {
        Answer answer = agent.call(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", "for i in range(20000): print(i)", "max_output_chars", 1000));

        assertThat(answer.status()).isEqualTo("ok");
        assertThat(answer.flag("truncated")).isTrue();
        assertThat(answer.stdout())
                .startsWith("0\n1\n")
                .endsWith("19998\n19999\n")
                .hasSizeLessThan(1200);
        assertThat(answer.text()).contains("[Output truncated: exceeded 1000 character limit]");
    }
}
