package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.execution.ExecutionRequest.Code;
import dev.sandglass.gateway.execution.ExecutionRequest.Command;
import dev.sandglass.gateway.execution.ExecutionRequest.Limits;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.link.LinkSettings;
import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.testing.TestLinks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Flux;

/** What one gateway process has of these rooms; short forms for tests. */
final class Replica implements AutoCloseable {

    static final Duration LONG = Duration.ofMinutes(2);
    static final Limits PATIENT = new Limits(LONG, LONG, false, 20_000);

    private static final Duration START = Duration.ofSeconds(30);

    final LinkClient links;
    final Executions executions;

    Replica() {
        this(START);
    }

    /**
     * @param start how long an execution may take to be taken by the supervisor
     */
    Replica(Duration start) {
        this(start, Flux.never());
    }

    /**
     * @param ends what the resource of every sandbox tells
     */
    Replica(Flux<SandboxEnd> ends) {
        this(START, ends);
    }

    private Replica(Duration start, Flux<SandboxEnd> ends) {
        this(TestLinks.start(SupervisorProcess.SECRET), start, ends);
    }

    /**
     * @param calls answers what code asks
     */
    Replica(PodCalls calls) {
        this(calls, LinkSettings.defaults("test").idleAfter());
    }

    /**
     * @param calls answers what code asks
     * @param idleAfter links that nobody uses are closed after that time
     */
    Replica(PodCalls calls, Duration idleAfter) {
        this(
                TestLinks.start(new LinkSettings("test", 64, idleAfter), SupervisorProcess.SECRET, calls),
                START,
                Flux.never());
    }

    private Replica(LinkClient links, Duration start, Flux<SandboxEnd> ends) {
        this.links = links;
        this.executions = new Executions(links, _ -> ends, start);
    }

    ExecutionResult run(RunningSandbox sandbox, String code) {
        return run(sandbox, code(code, PATIENT));
    }

    ExecutionResult run(RunningSandbox sandbox, ExecutionRequest request) {
        return Objects.requireNonNull(
                executions.run(sandbox, request, OutputListener.NONE).block(LONG));
    }

    CompletableFuture<ExecutionResult> begin(RunningSandbox sandbox, ExecutionRequest request) {
        return executions.run(sandbox, request, OutputListener.NONE).toFuture();
    }

    ExecutionResult read(RunningSandbox sandbox, ExecutionId id, long offset, Duration wait) {
        return Objects.requireNonNull(executions
                .read(sandbox, id, offset, wait, 20_000, OutputListener.NONE)
                .block(LONG));
    }

    static Code code(String code, Limits limits) {
        return new Code("python", "default", null, code, Map.of(), limits);
    }

    static Command command(String command, String... args) {
        return new Command(command, List.of(args), false, "", Map.of(), "", PATIENT);
    }

    static Limits waiting(Duration wait) {
        return new Limits(LONG, wait, false, 20_000);
    }

    static Limits background() {
        return new Limits(LONG, LONG, true, 20_000);
    }

    @Override
    public void close() {
        links.close();
    }
}
