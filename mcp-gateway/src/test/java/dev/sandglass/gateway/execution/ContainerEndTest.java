package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.execution.ExecutionRequest.Limits;
import dev.sandglass.gateway.link.LinkTarget;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxEnd.ContainerEnded;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;

/** A container that ends with all that is in it: the link sees that at once, the resource tells why a moment later. */
class ContainerEndTest {

    private static final ContainerEnded OUT_OF_MEMORY =
            new ContainerEnded("The container's memory use peaked at its limit of 512Mi (OOMKilled)", true);
    private static final ContainerEnded CRASH =
            new ContainerEnded("The container ended with exit code 3 (Crashed)", false);

    private final Sinks.Many<SandboxEnd> resource = Sinks.many().replay().all();
    private final Replica gateway = new Replica(resource.asFlux());
    private SupervisorProcess supervisor;

    @BeforeEach
    void start() {
        supervisor = SupervisorProcess.start();
        gateway.executions.awaitKernel(supervisor.sandbox()).block(Replica.LONG);
    }

    @AfterEach
    void stop() {
        gateway.close();
        supervisor.close();
    }

    /** Begins to run code that never ends, and returns when it runs. */
    private CompletableFuture<ExecutionResult> running() {
        return running("print('begun', flush=True)", Replica.PATIENT);
    }

    /** Begins to run code that prints and then never ends, and returns when it has printed. */
    private CompletableFuture<ExecutionResult> running(String printing, Limits limits) {
        CompletableFuture<Void> heard = new CompletableFuture<>();
        CompletableFuture<ExecutionResult> result = gateway.executions
                .run(
                        supervisor.sandbox(),
                        Replica.code(printing + "\nimport time\ntime.sleep(600)", limits),
                        (_, _) -> {
                            heard.complete(null);
                            return OutputListener.CONSUMED;
                        })
                .toFuture();
        heard.orTimeout(30, TimeUnit.SECONDS).join();
        return result;
    }

    private static ExecutionResult answer(CompletableFuture<ExecutionResult> run) throws Exception {
        return run.get(30, TimeUnit.SECONDS);
    }

    private void tell(ContainerEnded end) {
        resource.emitNext(end, Sinks.EmitFailureHandler.FAIL_FAST);
    }

    private boolean isConnected() {
        RunningSandbox where = supervisor.sandbox();
        return gateway.links
                .link(new LinkTarget(where.uid(), where.incarnation(), where.address(), where.port()))
                .isOpen();
    }

    @Tag("slow")
    @Test
    void theCauseAnswersWhileNothingRunsYetInItsPlace() throws Exception {
        CompletableFuture<ExecutionResult> run = running();
        supervisor.kill();
        await().atMost(Duration.ofSeconds(30)).until(() -> !isConnected());

        tell(OUT_OF_MEMORY);

        ExecutionResult result = answer(run);
        assertThat(result.status()).isEqualTo(ExecutionStatus.OOM_KILLED);
        assertThat(result.message()).contains("peaked at its limit of 512Mi").contains("start a sandbox with more");
        assertThat(result.kernelRestarted()).isTrue();
        assertThat(result.stdout()).isEqualTo("begun\n");
    }

    @Tag("slow")
    @Test
    void whatWasCutIsLostWithTheContainer() throws Exception {
        var limits = new Limits(Replica.LONG, Replica.LONG, false, 10);
        CompletableFuture<ExecutionResult> run = running("print('head, middle, tail', end='', flush=True)", limits);
        supervisor.kill();
        await().atMost(Duration.ofSeconds(30)).until(() -> !isConnected());

        tell(OUT_OF_MEMORY);

        ExecutionResult result = answer(run);
        assertThat(result.status()).isEqualTo(ExecutionStatus.OOM_KILLED);
        assertThat(result.stdout()).startsWith("head,").endsWith(" tail");
        assertThat(result.truncated()).isTrue();
        assertThat(result.cut()).isEqualTo(CutOutput.LOST);
    }

    @Tag("slow")
    @Test
    void whatHadEndedBeforeKeepsItsOutcomeWithoutTheOutputThatWasNotReadYet() throws Exception {
        ExecutionId ended =
                gateway.run(supervisor.sandbox(), "print('x' * 4_000_000)").id();
        CompletableFuture<Void> heard = new CompletableFuture<>();
        CompletableFuture<ExecutionResult> reading = gateway.executions
                .read(supervisor.sandbox(), ended, 0, Replica.LONG, 8_000_000, (_, _) -> {
                    heard.complete(null);
                    return new CompletableFuture<>();
                })
                .toFuture();
        heard.orTimeout(30, TimeUnit.SECONDS).join();
        supervisor.kill();
        await().atMost(Duration.ofSeconds(30)).until(() -> !isConnected());

        tell(OUT_OF_MEMORY);

        ExecutionResult result = answer(reading);
        assertThat(result.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(result.stdout()).hasSizeLessThan(4_000_000);
        assertThat(result.cut()).isEqualTo(CutOutput.LOST);
    }

    @Tag("slow")
    @Test
    void theNextSupervisorsAnswerWaitsForTheCause() throws Exception {
        CompletableFuture<ExecutionResult> run = running();
        supervisor.restart();
        await().atMost(Duration.ofSeconds(30)).until(this::isConnected);

        tell(CRASH);

        ExecutionResult result = answer(run);
        assertThat(result.status()).isEqualTo(ExecutionStatus.LOST);
        assertThat(result.message()).contains("exit code 3 (Crashed)").doesNotContain("with more");
    }

    @Tag("slow")
    @Test
    void aCauseThatNobodyTellsIsNotWaitedForLong() throws Exception {
        CompletableFuture<ExecutionResult> run = running();

        supervisor.restart();
        await().atMost(Duration.ofSeconds(30)).until(this::isConnected);

        ExecutionResult result = answer(run);
        assertThat(result.status()).isEqualTo(ExecutionStatus.LOST);
        assertThat(result.message()).contains("container was restarted");
    }

    @Test
    void anEndThatIsToldLateDoesNotConcernWhatRunsAfterIt() throws Exception {
        CompletableFuture<ExecutionResult> run = running();

        tell(OUT_OF_MEMORY);
        ExecutionResult other = gateway.run(supervisor.sandbox(), Replica.command("true"));

        assertThat(other.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(run).isNotDone();
    }

    @Tag("slow")
    @Test
    void whoReadsOnWhatWasLostIsToldOfTheRestarts() {
        RunningSandbox before = supervisor.sandbox();
        ExecutionResult begun = gateway.run(before, Replica.code("1", Replica.background()));
        supervisor.restart();
        var after = new RunningSandbox(
                before.ref(),
                before.uid(),
                1,
                before.address(),
                before.port(),
                List.of(),
                before.reach(),
                new Restarts(1, "It runs; the last because the container ended with exit code 3"),
                Optional.empty());

        ExecutionResult lost = gateway.read(after, begun.id(), 0, Duration.ZERO);

        assertThat(lost.status()).isEqualTo(ExecutionStatus.LOST);
        assertThat(lost.message()).contains("the container ended with exit code 3");
    }
}
