package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.execution.ExecutionRequest.Code;
import dev.sandglass.gateway.execution.ExecutionRequest.Command;
import dev.sandglass.gateway.execution.ExecutionRequest.Limits;
import dev.sandglass.gateway.output.ExecutionError;
import dev.sandglass.gateway.output.Image;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** The whole way from a request to a real kernel and back. */
class ExecutionsTest extends LiveSandbox {

    @Test
    void valueOfTheLastExpression() {
        ExecutionResult result = one.run(sandbox, "1+1");
        assertThat(result.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(result.result()).isEqualTo("2");
        assertThat(result.message()).isEmpty();
        assertThat(result.durationMs()).isBetween(0L, 10_000L);
    }

    @Test
    void variablesAreKeptBetweenCallsAndReplicas() {
        one.run(sandbox, "kept = 41");
        assertThat(two.run(sandbox, "kept + 1").result()).isEqualTo("42");
    }

    @Test
    void anExceptionIsAnErrorWithItsTraceback() {
        ExecutionResult result = one.run(sandbox, "print('before')\n1/0");
        assertThat(result.status()).isEqualTo(ExecutionStatus.ERROR);
        assertThat(result.stdout()).isEqualTo("before\n");
        ExecutionError error = Objects.requireNonNull(result.error());
        assertThat(error.name()).isEqualTo("ZeroDivisionError");
        assertThat(error.traceback()).contains("1/0").doesNotContain("\u001b");
    }

    @Test
    void streamsAreApartAndEnvironmentIsTheExecutions() {
        Code code = new Code(
                "python",
                "default",
                null,
                "import os, sys\nprint(os.environ['GREETING'])\nprint('é', file=sys.stderr)",
                Map.of("GREETING", "hi"),
                Replica.PATIENT);
        ExecutionResult result = one.run(sandbox, code);
        assertThat(result.stdout()).isEqualTo("hi\n");
        assertThat(result.stderr()).isEqualTo("é\n");
        assertThat(one.run(sandbox, "os.environ.get('GREETING', 'gone')").result())
                .isEqualTo("'gone'");
    }

    @Test
    void picturesComeAsImages() {
        String png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        ExecutionResult result = one.run(
                sandbox,
                "import base64\nfrom IPython.display import Image, display\ndisplay(Image(base64.b64decode('" + png
                        + "')))");
        assertThat(result.images()).containsExactly(new Image("image/png", png, 70, null));
    }

    @Test
    void outputComesWhileTheCodeRuns() {
        // The code ends only after the listener has heard of it.
        ExecutionResult result = Objects.requireNonNull(one.executions
                .run(
                        sandbox,
                        Replica.code("print('begun', flush=True)\n" + UNTIL_FILE.formatted("heard"), Replica.PATIENT),
                        (_, text) -> {
                            touch("heard");
                            return OutputListener.CONSUMED;
                        })
                .block(Replica.LONG));
        assertThat(result.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(result.stdout()).isEqualTo("begun\n");
    }

    @Tag("slow")
    @Test
    void timeOutKeepsWhatWasPrinted() {
        // Enough for a slow machine to print a line.
        Limits limits = new Limits(Duration.ofMillis(2500), Replica.LONG, false, 1000);
        ExecutionResult result =
                one.run(sandbox, Replica.code("import time\nprint('so far', flush=True)\ntime.sleep(60)", limits));
        assertThat(result.status()).isEqualTo(ExecutionStatus.TIMEOUT);
        assertThat(result.stdout()).isEqualTo("so far\n");
        assertThat(result.message()).contains("2.5 s");
    }

    @Test
    void aCancelledCallInterruptsItsCode() {
        Path file = supervisor.workspace().resolve("interrupted");
        String code = "import time\ntry:\n    print('in', flush=True)\n    time.sleep(600)\n"
                + "except KeyboardInterrupt:\n    open('interrupted', 'w').close()\n    raise";
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        Disposable call = one.executions
                .run(sandbox, Replica.code(code, Replica.PATIENT), (_, text) -> {
                    heard.add(text);
                    return OutputListener.CONSUMED;
                })
                .subscribe();
        await().until(() -> !heard.isEmpty());
        call.dispose();
        await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(file));
        assertThat(one.run(sandbox, "'usable'").result()).isEqualTo("'usable'");
    }

    @Test
    void commandGivesItsExitCode() {
        ExecutionResult result = one.run(sandbox, Replica.command("sh", "-c", "echo out; echo err >&2; exit 3"));
        assertThat(result.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(result.stdout()).isEqualTo("out\n");
        assertThat(result.stderr()).isEqualTo("err\n");
    }

    @Test
    void commandGetsInputEnvironmentAndFolder() {
        Command command = new Command(
                "sh",
                List.of("-c", "cat; echo $GREETING; pwd"),
                false,
                "/tmp",
                Map.of("GREETING", "hi"),
                "in\n",
                Replica.PATIENT);
        ExecutionResult result = one.run(sandbox, command);
        assertThat(result.exitCode()).isZero();
        assertThat(result.stdout()).isEqualTo("in\nhi\n/tmp\n");
        assertThat(one.run(sandbox, Replica.command("pwd")).stdout()).isEqualTo(supervisor.workspace() + "\n");
    }

    @Test
    void aSandboxWhoseFirstSessionWasClosedIsReadyForItsNextUse() {
        Session.Name first = new Session.Name("python", "default");
        assertThat(one.executions.sessions().close(sandbox, first).block(Replica.LONG))
                .isTrue();
        two.executions.awaitKernel(sandbox).block(Duration.ofSeconds(10));
        assertThat(two.run(sandbox, "6*7").result()).isEqualTo("42");
    }

    @Test
    void metricsAreReadWhileTheKernelIsBusy() {
        CompletableFuture<ExecutionResult> busy =
                one.begin(sandbox, Replica.code(UNTIL_FILE.formatted("metrics"), Replica.PATIENT));
        SandboxMetrics metrics =
                Objects.requireNonNull(one.executions.metrics(sandbox).block(Replica.LONG));
        assertThat(metrics.uptimeSeconds()).isPositive();
        touch("metrics");
        busy.join();
    }

    @Test
    void whatTheSupervisorRefusesIsAProblemWithItsReason() {
        Code code = new Code("cobol", "default", null, "1", Map.of(), Replica.PATIENT);
        assertThatThrownBy(() -> one.run(sandbox, code))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageContaining("python, nodejs");
        assertThatThrownBy(() -> one.run(sandbox, "#".repeat(1_100_000)))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageContaining("1048576");
    }
}
