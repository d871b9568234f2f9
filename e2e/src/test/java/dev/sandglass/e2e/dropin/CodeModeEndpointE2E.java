package dev.sandglass.e2e.dropin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.e2e.support.EndpointSession;
import dev.sandglass.e2e.support.Installation;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The endpoint {@code /mcp/code-mode} in a cluster: a fresh interpreter for each call, files that stay. */
class CodeModeEndpointE2E {

    private EndpointSession session;

    @BeforeEach
    void begin() {
        session = EndpointSession.begin(Installation.current(), "/mcp/code-mode?output=json");
    }

    @AfterEach
    void end() {
        session.end();
    }

    private String run(String code) {
        return session.call("run_python", Map.of("code", code, "timeout", 3));
    }

    @Test
    void variablesEndWithTheCallAndFilesStay() {
        assertThat(run("x = 41; open('kept', 'w').write('here')"))
                .contains("\\\"summary\\\":\\\"Success (no output)\\\"");
        assertThat(run("print(open('kept').read(), 'x' in globals())")).contains("here False");
    }

    @Test
    void eachEndHasItsExitCode() {
        assertThat(run("raise ValueError('no')")).contains("Sandbox exited with code 1", "ValueError: no");
        assertThat(run("import sys; sys.exit(3)"))
                .contains("Sandbox exited with code 3")
                .doesNotContain("Traceback");
        assertThat(run("import sys; sys.exit(0)")).contains("\\\"exitCode\\\":0");
        assertThat(run("1 + 1")).contains("Success (no output)");
        assertThat(run("print('begun', flush=True); import time; time.sleep(60)"))
                .contains("Timeout: execution exceeded 3s", "begun", "\\\"timeoutSeconds\\\":3", "\"isError\":true");
    }

    @Test
    void brokenArgumentsAreValidationErrors() {
        assertThat(run(" \n"))
                .contains("\\\"status\\\":\\\"validation_error\\\"", "Missing 'code' argument", "\"isError\":true");
        assertThat(session.call("run_python", Map.of("code", "1", "servers", Map.of("x", 1))))
                .contains("validation_error", "'servers' must be a list");
        assertThat(session.call("run_python", Map.of("code", "1", "timeout", "soon")))
                .contains("validation_error", "'timeout' must be an integer");
        assertThat(session.call("run_python", Map.of("code", "import time; time.sleep(30)", "timeout", 0)))
                .contains("Timeout: execution exceeded 1s", "\"isError\":true");
    }

    @Test
    void callsRunSideBySide() throws Exception {
        run("print('the sandbox is there')");
        String meet = """
                import os, time
                open('%s', 'w').close()
                while not os.path.exists('%s'):
                    time.sleep(0.02)
                print('met')
                """;
        var one = CompletableFuture.supplyAsync(
                () -> session.call("run_python", Map.of("code", meet.formatted("one", "two"))),
                Thread::startVirtualThread);
        var two = CompletableFuture.supplyAsync(
                () -> session.call("run_python", Map.of("code", meet.formatted("two", "one"))),
                Thread::startVirtualThread);

        assertThat(one.get(120, TimeUnit.SECONDS)).contains("met");
        assertThat(two.get(120, TimeUnit.SECONDS)).contains("met");
    }

    @Test
    void theFormsOfAnAnswer() {
        Map<String, Object> call = Map.of("code", "print('a: b'); print('c')");
        for (Map.Entry<String, String> form : Map.of("compact", "\"a: b\\nc", "toon", "stdout[2]: \\\"a: b\\\",c")
                .entrySet()) {
            EndpointSession other =
                    EndpointSession.begin(Installation.current(), "/mcp/code-mode?output=" + form.getKey());
            try {
                assertThat(other.call("run_python", call)).contains(form.getValue());
            } finally {
                other.end();
            }
        }
    }

    @Test
    void manyCallsLeaveNoKernelBehind() {
        for (int call = 0; call < 10; call++) {
            assertThat(run("print(%d * 2)".formatted(call))).contains("\\\"" + call * 2 + "\\\"");
        }
    }

    /** To start one takes half a second or more; the interval gives the next one the time for that, on a busy node too. */
    @Test
    void anInterpreterWaitsForTheNextCall() {
        run("print('the sandbox is there')");
        await().atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofSeconds(4))
                .until(() -> {
                    long begin = System.nanoTime();
                    run("print(1)");
                    return Duration.ofNanos(System.nanoTime() - begin).toMillis() < 250;
                });
    }

    @Test
    void processesEndWithTheCall() {
        run("import subprocess; subprocess.Popen(['sleep', '987'])");
        assertThat(run("import subprocess; print('left', subprocess.run(['pgrep', '-f', 'sleep 98[7]']).returncode)"))
                .contains("left 1");
    }
}
