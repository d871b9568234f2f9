package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.output.OutputCollector;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/**
 * The door of this room: runs code and commands in sandboxes and tells what became of them. Stateless but for the links:
 * any replica reads what another one started. Results come on the link's one thread; hop before anything slow.
 *
 * <p>Failures of the way (not of the code) come as {@link dev.sandglass.gateway.sandbox.SandboxProblem}.
 */
public final class Executions {

    private static final Logger LOG = LoggerFactory.getLogger(Executions.class);

    private static final Duration START = Duration.ofSeconds(10);
    private static final Duration INTERRUPT = Duration.ofSeconds(10);
    // The supervisor takes nine of at most a day each.
    private static final Duration MOST_QUEUED = Duration.ofDays(10);
    private static final Duration METRICS = Duration.ofSeconds(5);

    private final LinkClient links;
    private final Function<RunningSandbox, Flux<SandboxEnd>> ends;
    private final Duration start;
    private final AnswerMemory answers = new AnswerMemory();
    private final KeptLinks kept;
    private final Set<ExecutionCall> waiting = ConcurrentHashMap.newKeySet();
    private final Sinks.Empty<Void> drained = Sinks.empty();
    private volatile boolean draining;

    /**
     * Uses, and does not close, the given links.
     *
     * @param ends tells how what runs in a sandbox came to an end: what waits for it is answered then
     */
    public Executions(LinkClient links, Function<RunningSandbox, Flux<SandboxEnd>> ends) {
        this(links, ends, START);
    }

    /**
     * @param start until the supervisor has taken an execution, connecting included; running is not part of it
     */
    Executions(LinkClient links, Function<RunningSandbox, Flux<SandboxEnd>> ends, Duration start) {
        this.links = links;
        this.ends = ends;
        this.start = start;
        this.kept = new KeptLinks(this::link, ends);
    }

    /**
     * Runs and follows until the end or until the request's patience is over. Cancelling the subscription interrupts the
     * execution unless it is a background one.
     */
    public Mono<ExecutionResult> run(RunningSandbox sandbox, ExecutionRequest request, OutputListener progress) {
        Mono<ExecutionResult> run = answers.of(
                sandbox.ref().tenant(),
                share -> Mono.create(sink -> {
                    ExecutionId id = ExecutionId.random(sandbox.ref().tenant(), sandbox.uid(), sandbox.incarnation());
                    if (request.limits().background()) {
                        startOnly(sandbox, id, request, progress, sink);
                    } else {
                        var output =
                                OutputCollector.headAndTail(request.limits().maxOutputChars(), share);
                        startAndFollow(sandbox, id, request, output, progress, sink);
                    }
                }));
        return run.doOnNext(result -> keepLink(sandbox, result));
    }

    /** What goes on without a call that follows it may call tools, for which it needs a link. */
    private void keepLink(RunningSandbox sandbox, ExecutionResult result) {
        if (result.status() == ExecutionStatus.RUNNING && !draining) {
            kept.keep(sandbox);
        }
    }

    /**
     * Keeps the link to a sandbox as long as something runs there, whoever started it; if nothing does, or it does not
     * answer, not at all. Never fails.
     */
    public Mono<Adopted> adopt(RunningSandbox sandbox) {
        return kept.adopt(sandbox);
    }

    /** Links that are kept for executions that no call follows. */
    public int keptLinks() {
        return kept.size();
    }

    /**
     * Reads an execution's output from an offset, whoever started it, and follows it for at most {@code wait}. Cancelling
     * stops the reading, never the execution. An id of another sandbox or incarnation answers {@code lost}.
     *
     * @param maxOutputChars size of the page; unlike an answer of {@link #run}, a page is cut at its end, not in its middle
     */
    public Mono<ExecutionResult> read(
            RunningSandbox sandbox,
            ExecutionId id,
            long offset,
            Duration wait,
            int maxOutputChars,
            OutputListener progress) {
        if (!id.isOf(sandbox)) {
            return Mono.just(Verdict.gone("another one took its place").alone(id, offset));
        }
        return answers.of(sandbox.ref().tenant(), share -> read(
                        sandbox, id, offset, wait, OutputCollector.page(maxOutputChars, offset, share), progress)
                .doOnNext(page -> {
                    share.refuseIfEmpty(page.cut(), page.nextOffset(), offset);
                    keepLink(sandbox, page);
                }));
    }

    private Mono<ExecutionResult> read(
            RunningSandbox sandbox,
            ExecutionId id,
            long offset,
            Duration wait,
            OutputCollector output,
            OutputListener progress) {
        return Mono.create(sink -> {
            Link link = link(sandbox);
            ExecutionCall following = new ExecutionCall(link, id, output, progress, sink);
            sink.onCancel(() -> link.execute(following::abandon));
            follow(following, sandbox, sink, wait);
            var _ = link.follow(new Verb.Attach(id.number(), offset), following, start)
                    .exceptionally(failure -> {
                        refused(sandbox, failure, following);
                        return null;
                    });
        });
    }

    /** Bytes that answers hold which are made or being written; see {@link AnswerMemory}. */
    public long answerBytes() {
        return answers.held();
    }

    /** The sessions in which executions run. */
    public Sessions sessions() {
        return new Sessions(this::link);
    }

    /** The MCP servers that code in the sandboxes calls. */
    public ToolServers toolServers() {
        return new ToolServers(this::link);
    }

    /** What the sandbox uses now. */
    public Mono<SandboxMetrics> metrics(RunningSandbox sandbox) {
        return Mono.fromFuture(() -> link(sandbox).ask(new Verb.Metrics(), METRICS))
                .map(answer -> SandboxMetrics.parse(answer.json()))
                .onErrorMap(failure -> Failures.problem(sandbox, failure));
    }

    /**
     * Completes when the supervisor answers and the default Python kernel is ready. Tries until the subscriber gives up:
     * give it a time-out.
     */
    public Mono<Void> awaitKernel(RunningSandbox sandbox) {
        return Mono.create(sink -> new KernelWait(sandbox, link(sandbox), sink).begin());
    }

    /**
     * Answers all that wait as if their patience were over; from now on nothing waits. For the end of this process: what
     * runs goes on in the sandboxes and is read through another replica.
     */
    public void drain() {
        draining = true;
        waiting.forEach(ExecutionCall::drain);
        drained.tryEmitEmpty();
    }

    /** Completes when this process ends: who waits for something else should answer then. */
    public Mono<Void> drained() {
        return drained.asMono();
    }

    private void startOnly(
            RunningSandbox sandbox,
            ExecutionId id,
            ExecutionRequest request,
            OutputListener progress,
            MonoSink<ExecutionResult> sink) {
        var _ = link(sandbox).ask(Orders.verb(id, request, false), start).whenComplete((answer, failure) -> {
            if (answer != null) {
                tellQueue(answer, progress);
                sink.success(Verdict.running(QueuePosition.of(answer.json(), 1)).alone(id, 0));
                return;
            }
            Verdict verdict = Failures.verdict(sandbox, failure);
            if (verdict == null) {
                sink.error(Failures.problem(sandbox, failure));
            } else {
                sink.success(verdict.alone(id, 0));
            }
        });
    }

    private void startAndFollow(
            RunningSandbox sandbox,
            ExecutionId id,
            ExecutionRequest request,
            OutputCollector output,
            OutputListener progress,
            MonoSink<ExecutionResult> sink) {
        Link link = link(sandbox);
        ExecutionCall following = new ExecutionCall(link, id, output, progress, sink);
        follow(following, sandbox, sink, request.limits().waitFor());
        CompletableFuture<Answer> started = link.follow(Orders.verb(id, request, true), following, start);
        sink.onCancel(() -> interrupt(link, id, following, started));
        var _ = started.whenComplete((answer, failure) -> {
            if (answer != null) {
                tellQueue(answer, progress);
            } else if (!started.isCancelled()) {
                refused(sandbox, failure, following);
            }
        });
    }

    private static void tellQueue(Answer answer, OutputListener progress) {
        long millis = Math.round(answer.json().path("waits_s").asDouble(0) * 1000);
        if (millis > 0) {
            progress.queued(Duration.ofMillis(Math.min(millis, MOST_QUEUED.toMillis())));
        }
    }

    private void follow(
            ExecutionCall following, RunningSandbox sandbox, MonoSink<ExecutionResult> sink, Duration patience) {
        waiting.add(following);
        Disposable watch = ends.apply(sandbox).subscribe(following::ended);
        sink.onDispose(() -> {
            waiting.remove(following);
            watch.dispose();
        });
        following.waitFor(draining ? Duration.ZERO : patience);
    }

    private static void interrupt(
            Link link, ExecutionId id, ExecutionCall following, CompletableFuture<Answer> started) {
        // If it is still here, it never goes; if it went, the interrupt goes after it.
        started.cancel(false);
        link.execute(() -> {
            if (following.abandon()) {
                var _ = link.ask(new Verb.Interrupt(id.number()), INTERRUPT).whenComplete((_, failure) -> {
                    if (failure != null) {
                        LOG.atDebug()
                                .addKeyValue("execution_id", id)
                                .addKeyValue("reason", failure.getMessage())
                                .log("Interrupt after a cancelled call had no effect");
                    }
                });
            }
        });
    }

    private static void refused(RunningSandbox sandbox, Throwable failure, ExecutionCall following) {
        Verdict verdict = Failures.verdict(sandbox, failure);
        if (verdict == null) {
            following.fail(Failures.problem(sandbox, failure));
        } else if (isRestart(failure)) {
            following.restarted();
        } else {
            following.answer(verdict);
        }
    }

    private static boolean isRestart(Throwable failure) {
        return LinkException.unwrap(failure) instanceof LinkException why && why.kind() == LinkException.Kind.RESTARTED;
    }

    /** The link to a sandbox, for what is asked of it beside executions. */
    public Link link(RunningSandbox sandbox) {
        return links.link(KeptLinks.target(sandbox));
    }
}
