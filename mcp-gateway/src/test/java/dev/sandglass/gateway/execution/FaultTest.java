package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What callers are told when something on the way breaks. */
class FaultTest extends LiveSandbox {

    @Test
    void aKernelThatDiesIsToldAndReplaced() {
        ExecutionResult died = one.run(sandbox, "import os\nprint('last words', flush=True)\nos.kill(os.getpid(), 9)");
        assertThat(died.status()).isEqualTo(ExecutionStatus.KERNEL_DIED);
        assertThat(died.stdout()).isEqualTo("last words\n");
        assertThat(died.kernelRestarted()).isTrue();
        assertThat(died.message()).contains("variables");
        assertThat(one.run(sandbox, "'fresh'").result()).isEqualTo("'fresh'");
    }

    @Tag("slow")
    @Test
    void aRestartedSupervisorLosesTheRunAndServesTheNext() throws Exception {
        try (SupervisorProcess other = SupervisorProcess.start()) {
            CompletableFuture<ExecutionResult> run = hearing(other.sandbox());
            other.restart();
            ExecutionResult lost = run.get(30, TimeUnit.SECONDS);
            assertThat(lost.status()).isEqualTo(ExecutionStatus.LOST);
            assertThat(lost.stdout()).isEqualTo("begun\n");
            assertThat(lost.message()).contains("restarted").contains("again");
            assertThat(one.run(other.sandbox(), "'fresh'").result()).isEqualTo("'fresh'");
            assertThat(one.read(other.sandbox(), lost.id(), 0, Duration.ZERO).status())
                    .isEqualTo(ExecutionStatus.LOST);
        }
    }

    @Test
    void anotherIncarnationsKeysAreRefused() {
        try (Replica hasty = new Replica(Duration.ofSeconds(2))) {
            assertThatThrownBy(() -> hasty.run(supervisor.sandbox(2), "1"))
                    .isInstanceOf(SandboxProblem.Unreachable.class)
                    .hasMessageContaining("no connection within 2.0 s");
        }
    }

    @Tag("slow")
    @Test
    void nobodyThereIsUnreachableWithItsReason() {
        RunningSandbox nowhere = new RunningSandbox(sandbox.ref(), sandbox.uid(), 1, "127.0.0.1", 1);
        try (Replica hasty = new Replica(Duration.ofSeconds(2))) {
            assertThatThrownBy(() -> hasty.run(nowhere, "1"))
                    .isInstanceOf(SandboxProblem.Unreachable.class)
                    .hasMessageContaining("refuses connections");
        }
    }

    @Test
    void aReplicaThatDiesTakesNothingWithIt() {
        Replica mortal = new Replica();
        CompletableFuture<ExecutionResult> run = mortal.begin(
                sandbox,
                Replica.code("print('from one')\n" + UNTIL_FILE.formatted("mortal") + "'end'", Replica.PATIENT));
        ExecutionId id;
        try (mortal) {
            await().until(() -> mortal.links.stats().open() == 1);
            mortal.executions.drain();
            ExecutionResult soFar = run.join();
            assertThat(soFar.status()).isEqualTo(ExecutionStatus.RUNNING);
            id = soFar.id();
        }
        touch("mortal");
        ExecutionResult whole = two.read(sandbox, id, 0, Replica.LONG);
        assertThat(whole.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(whole.stdout()).isEqualTo("from one\n");
        assertThat(whole.result()).isEqualTo("'end'");
    }

    @Test
    void closingTheLinksAnswersWhoWaits() throws Exception {
        Replica closing = new Replica();
        CompletableFuture<ExecutionResult> run =
                closing.begin(sandbox, Replica.code(UNTIL_FILE.formatted("closing"), Replica.PATIENT));
        await().until(() -> closing.links.stats().open() == 1);
        closing.close();
        assertThat(run)
                .satisfiesAnyOf(
                        answered -> assertThat(
                                        answered.get(30, TimeUnit.SECONDS).status())
                                .isEqualTo(ExecutionStatus.RUNNING),
                        failed -> assertThat(failed).isCompletedExceptionally());
        touch("closing");
        assertThatThrownBy(() -> closing.run(sandbox, "1")).isInstanceOf(SandboxProblem.Unreachable.class);
    }

    @Test
    void whileTheConnectionIsGoneTheCodeGoesOnAndSoDoesTheReading() throws Exception {
        try (CutProxy proxy = new CutProxy(sandbox.port())) {
            RunningSandbox through = new RunningSandbox(
                    sandbox.ref(), sandbox.uid(), sandbox.incarnation(), sandbox.address(), proxy.port());
            CompletableFuture<ExecutionResult> run = hearing(through);
            proxy.refuse(true);
            proxy.cut();
            // It is done while nobody listens.
            touch("hearing");
            await().until(() -> two.run(sandbox, "1").status() == ExecutionStatus.OK);
            proxy.refuse(false);
            ExecutionResult result = run.get(30, TimeUnit.SECONDS);
            assertThat(result.status()).isEqualTo(ExecutionStatus.OK);
            assertThat(result.stdout()).isEqualTo("begun\nheard\n");
        }
    }

    @Tag("slow")
    @Test
    void patienceEndsThoughTheConnectionIsGone() throws Exception {
        try (SupervisorProcess other = SupervisorProcess.start()) {
            // The time of waiting below is not to go by with the supervisor's start.
            assertThat(one.run(other.sandbox(), "1").status()).isEqualTo(ExecutionStatus.OK);
            CompletableFuture<ExecutionResult> run = one.begin(
                    other.sandbox(),
                    Replica.code(UNTIL_FILE.formatted("never"), Replica.waiting(Duration.ofSeconds(8))));
            assertThat(one.run(other.sandbox(), Replica.command("true")).exitCode())
                    .isZero();
            other.kill();
            ExecutionResult result = run.get(60, TimeUnit.SECONDS);
            assertThat(result.status()).isEqualTo(ExecutionStatus.RUNNING);
            assertThat(result.warning()).contains("connection to the sandbox is interrupted");
        }
    }

    private static CompletableFuture<ExecutionResult> hearing(RunningSandbox where) {
        CompletableFuture<Void> heard = new CompletableFuture<>();
        CompletableFuture<ExecutionResult> result = one.executions
                .run(
                        where,
                        Replica.code(
                                "print('begun', flush=True)\n" + UNTIL_FILE.formatted("hearing") + "print('heard')",
                                Replica.PATIENT),
                        (_, _) -> {
                            heard.complete(null);
                            return OutputListener.CONSUMED;
                        })
                .toFuture();
        heard.orTimeout(30, TimeUnit.SECONDS).join();
        return result;
    }
}
