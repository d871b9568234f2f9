package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.StreamedCall;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Output that is no plain text, and code that does not end by itself, as an agent sees them. */
class OutputE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
    }

    /** Of the test before, which may have failed while its code ran, nothing is left but files. */
    @BeforeEach
    void freshVariables() {
        agent.reset(sandbox, "python");
    }

    private Answer run(String code, double timeout) {
        return agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "code", code, "timeout", timeout));
    }

    private static Map<?, ?> only(List<?> images) {
        assertThat(images).hasSize(1);
        assertThat(images.getFirst()).isInstanceOf(Map.class);
        return (Map<?, ?>) images.getFirst();
    }

    @Test
    void aSmallPictureComesAsItWasDrawn() {
        Answer answer = agent.python(sandbox, "import matplotlib.pyplot as plt\n_ = plt.plot([1, 3, 2])");

        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        Map<?, ?> image = only(answer.list("images"));
        assertThat(image.get("mime_type")).isEqualTo("image/png");
        assertThat(image.get("path")).isNull();
    }

    @Test
    void aLargePictureIsScaledDownAndItsFullSizeIsAFile() {
        Answer answer = agent.python(sandbox, """
                import numpy as np
                import matplotlib.pyplot as plt
                plt.figure(figsize=(18, 12), dpi=100)
                _ = plt.imshow(np.random.rand(1200, 1800, 3), interpolation='nearest')
                """);

        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        Map<?, ?> image = only(answer.list("images"));
        assertThat(image.get("path")).asString().startsWith("/workspace/.sandglass/pictures/picture-");
        assertThat(image.get("bytes")).isInstanceOfSatisfying(Number.class, bytes -> assertThat(bytes.intValue())
                .isLessThanOrEqualTo(768 * 1024));
        assertThat(answer.text()).contains("scaled down from", String.valueOf(image.get("path")));
        assertThat(agent.command(sandbox, "stat", "-c", "%s", String.valueOf(image.get("path")))
                        .stdout()
                        .strip())
                .isEqualTo(String.valueOf(image.get("full_bytes")));
    }

    @Test
    void tablesPagesAndJsonAreReadable() {
        assertThat(agent.python(sandbox, "import pandas\npandas.DataFrame({'city': ['Oslo'], 'n': [1]})")
                        .text())
                .isEqualTo("   city  n\n0  Oslo  1");
        assertThat(agent.python(sandbox, "from IPython.display import *\nHTML('<h1>Hi</h1><p>a &lt; <b>b</b></p>')")
                        .text())
                .isEqualTo("Hi\na < b");
        assertThat(agent.python(sandbox, "JSON({'a': [1, 2]})").object("result_json"))
                .isEqualTo(Map.of("a", List.of(1, 2)));
        assertThat(agent.python(sandbox, "SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')")
                        .text())
                .contains("an SVG picture was left out", "/workspace/.sandglass/pictures/");
    }

    @Test
    void aProgressBarIsItsLastStateAndStreamsAsItIs() {
        String code = "import sys\nfor i in range(101): sys.stderr.write(f'\\r{i}%'); sys.stderr.flush()";

        StreamedCall call = agent.stream("sandbox_run_code", Map.of("sandbox", sandbox, "code", code));

        assertThat(call.answer().stderr()).isEqualTo("100%");
        await("the last piece").until(() -> call.output().endsWith("\r100%"));
        assertThat(call.output()).startsWith("\r0%\r1%");
    }

    @Test
    void whatIsDisplayedAnewIsInTheAnswerOnceWhereItStoodFirst() {
        Answer answer = agent.python(sandbox, """
                shown = display('0 of 2', display_id=True)
                print('between')
                for done in (1, 2):
                    shown.update(f'{done} of 2')
                """);

        assertThat(answer.stdout()).isEqualTo("'2 of 2'\nbetween\n");
    }

    @Test
    void forkedWorkersPrintWholeLines() {
        String words = "worker word ".repeat(8).strip();

        Answer answer = agent.python(sandbox, """
                import multiprocessing
                def work(number):
                    for line in range(20):
                        print('%s')
                with multiprocessing.get_context('fork').Pool(4) as pool:
                    pool.map(work, range(8))
                """.formatted(words));

        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        assertThat(answer.stdout().lines()).as("no line is torn").hasSize(160).containsOnly(words);
    }

    @Test
    void aScriptThatFailsIsAnError() {
        agent.python(sandbox, "%%writefile job.py\nprint(1)\nraise ValueError('no rows')");

        Answer answer = agent.python(sandbox, "%run job.py");

        assertThat(answer.status()).isEqualTo("error");
        assertThat(answer.object("error").get("name")).isEqualTo("ValueError");
        assertThat(answer.object("error").get("traceback")).asString().contains("job.py", "no rows");
        assertThat(answer.stdout()).isEqualTo("1\n");
    }

    @Test
    void questionsCannotBeAnsweredAndShellLinesWork() {
        Answer asked = agent.python(sandbox, "input('name? ')");
        assertThat(asked.object("error").get("name")).isEqualTo("EOFError");
        assertThat(asked.text()).contains("pass the value in the code");
        assertThat(agent.python(sandbox, "import asyncio\nawait asyncio.sleep(0, 'slept')")
                        .result())
                .isEqualTo("'slept'");
        assertThat(agent.python(sandbox, "!exit 3\n_exit_code").result()).isEqualTo("3");
        assertThat(agent.python(sandbox, "%%bash\necho $((6*7))").stdout()).isEqualTo("42\n");
    }

    @Test
    void aLoopThatCannotBeInterruptedEndsSoonAfterItsTimeOut() {
        agent.python(sandbox, "kept = 1");

        Answer answer = run("sum(range(10**12))", 1);

        assertThat(answer.status()).isEqualTo("timeout");
        assertThat(answer.flag("kernel_restarted")).isTrue();
        // Left alone it takes hours.
        assertThat(answer.number("duration_ms")).isBetween(1_000L, 15_000L);
        assertThat(answer.text()).contains("variables are lost", "Run the code that made the variables again");
        assertThat(agent.python(sandbox, "'kept' in globals()").result()).isEqualTo("False");
    }

    @Test
    void whoeverWaitsHearsOfAKilledKernelAtOnce() {
        StreamedCall waits = agent.stream(
                "sandbox_run_code",
                Map.of("sandbox", sandbox, "code", "import os, time; print(os.getpid(), flush=True); time.sleep(100)"));
        waits.awaitOutput("\n");

        long began = System.nanoTime();
        agent.command(sandbox, "kill", "-9", waits.output().strip());
        Answer answer = waits.answer();

        // The promise is 300 ms; this includes the call that kills, on a machine that does much else. The code sleeps
        // longer.
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(10));
        assertThat(answer.status()).isEqualTo("kernel_died");
        assertThat(answer.flag("kernel_restarted")).isTrue();
        assertThat(agent.python(sandbox, "1 + 1").result()).isEqualTo("2");
    }
}
