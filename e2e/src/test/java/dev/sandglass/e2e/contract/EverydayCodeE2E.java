package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Code as models and editors write it does what it does in a program or a notebook. */
class EverydayCodeE2E {

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
        agent.reset(sandbox, "nodejs");
    }

    private Answer run(String language, String code) {
        return agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "language", language, "code", code));
    }

    @Test
    void exitsHaveTheirVerdictAndVariablesStay() {
        String passing = "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\nunittest.main()";
        for (String code : new String[] {"import sys; kept = 1; sys.exit(0)", "exit()", "raise SystemExit", passing}) {
            assertThat(agent.python(sandbox, code).status()).as(code).isEqualTo("ok");
        }
        Answer failed = agent.python(sandbox, "sys.exit('no data')");
        assertThat(failed.status()).isEqualTo("error");
        assertThat(failed.stderr()).isEqualTo("no data\n");
        assertThat(agent.python(sandbox, "kept").result()).isEqualTo("1");

        assertThat(run("nodejs", "var kept = 1; process.exit(0)").status()).isEqualTo("ok");
        assertThat(run("nodejs", "process.exit(3)").status()).isEqualTo("error");
        assertThat(run("nodejs", "kept").result()).isEqualTo("1");
    }

    @Test
    void manyLargeValuesThatAreShownFit() {
        // The memory is given at the start.
        String small = OWN.start(Map.of("memory", 512));
        agent.python(small, "import numpy");
        for (int turn = 0; turn < 8; turn++) {
            Answer answer = agent.python(small, "numpy.ones(9_000_000) * %d".formatted(turn));
            assertThat(answer.status()).as("turn %d: %s", turn, answer.text()).isEqualTo("ok");
        }
    }

    @Test
    void whatIsPrintedBetweenRunsBeginsTheNextAnswer() {
        String python = """
                import pathlib, threading, time
                def late():
                    while not pathlib.Path('answered-python').exists():
                        time.sleep(0.05)
                    print('late', flush=True)
                    pathlib.Path('python').touch()
                threading.Thread(target=late).start()
                """;
        String node = """
                const fs = require('fs');
                const late = setInterval(() => {
                  if (!fs.existsSync('answered-nodejs')) return;
                  clearInterval(late);
                  console.log('late');
                  fs.writeFileSync('nodejs', '');
                }, 50);
                0
                """;
        for (var begin : Map.of("python", python, "nodejs", node).entrySet()) {
            assertThat(run(begin.getKey(), begin.getValue()).stdout()).isEmpty();
            agent.command(
                    sandbox,
                    "sh",
                    "-c",
                    "touch answered-%1$s; until [ -e %1$s ]; do sleep 0.05; done".formatted(begin.getKey()));
            String own = begin.getKey().equals("python") ? "print('own')" : "console.log('own')";
            assertThat(run(begin.getKey(), own).stdout()).as(begin.getKey()).isEqualTo("""
                            [Printed between runs, before this one began:]
                            late
                            [End of what was printed between runs]
                            own
                            """);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"True", "False"})
    void whatIsTakenBackIsNotAnswered(String wait) {
        Answer answer = agent.python(sandbox, """
                from IPython.display import clear_output
                import matplotlib.pyplot as plt
                for turn in range(6):
                    clear_output(wait=%s)
                    plt.plot([turn])
                    plt.show()
                    print('round', turn)
                """.formatted(wait));
        assertThat(answer.stdout()).isEqualTo("round 5\n");
        assertThat(answer.list("images")).hasSize(1);
    }

    @Test
    void figuresAreShownAndProgramsHaveTheirOwnBackend() {
        Answer shown = agent.python(sandbox, """
                import matplotlib
                matplotlib.use('Agg')
                import matplotlib.pyplot as plt
                plt.plot([1, 2])
                plt.show()
                """);
        assertThat(shown.list("images")).hasSize(1);
        assertThat(agent.command(sandbox, "env").stdout()).doesNotContain("MPLBACKEND");
        assertThat(agent.python(sandbox, "!env").stdout()).doesNotContain("MPLBACKEND");
    }

    @Test
    void aPageForBrowsersIsAFileThatTheAnswerNames() {
        Answer answer = agent.python(sandbox, """
                page = '<div><script>' + 'x' * 4_600_000 + '</script></div>'
                display({'application/vnd.plotly.v1+json': {}, 'text/html': page}, raw=True)
                """);
        assertThat(answer.text())
                .contains("an interactive page (plotly)", "/workspace/.sandglass/pictures/", "fig.write_image")
                .hasSizeLessThan(1000);
    }

    @Test
    void anEditedModuleRunsAsItIsNow() {
        for (int turn = 0; turn < 6; turn++) {
            Map<String, Object> module =
                    Map.of("sandbox", sandbox, "path", "module.py", "content", "print(%d)\n".formatted(turn));
            assertThat(agent.call("sandbox_write_file", module).failed()).isFalse();
            assertThat(agent.command(sandbox, "python3", "-c", "import module").stdout())
                    .isEqualTo(turn + "\n");
        }
    }

    @Test
    void programsOfAsyncioAndTextsOfOtherSystems() {
        Answer awaited = agent.python(sandbox, """
                import asyncio
                async def main():
                    await asyncio.sleep(0.01)
                    return 42
                asyncio.run(main())
                """);
        assertThat(awaited.result()).isEqualTo("42");
        assertThat(agent.python(sandbox, "\ufeffx = 1\r\nx").result()).isEqualTo("1");
        assertThat(agent.python(sandbox, "%%bash\r\nif true; then\r\necho yes\r\nfi\r\n")
                        .stdout())
                .isEqualTo("yes\n");
        assertThat(run("nodejs", "\ufeff#!/usr/bin/env node\r\n1 + 1").result()).isEqualTo("2");
    }
}
