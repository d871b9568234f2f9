package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Runs something in a sandbox that must be running: notes the use, and brings back one that the operator suspended. */
final class SandboxRuns {

    private final Sandboxes sandboxes;
    private final Executions executions;
    private final DeniedNotice denied;
    private final Duration resumeWait;

    SandboxRuns(Sandboxes sandboxes, Executions executions, DeniedNotice denied, ToolSettings settings) {
        this.sandboxes = sandboxes;
        this.executions = executions;
        this.denied = denied;
        this.resumeWait = settings.startWait();
    }

    Mono<ToolResult> run(SandboxRef ref, ExecutionRequest request, OutputListener progress) {
        return sandboxes
                .running(ref)
                .flatMap(sandbox -> run(sandbox, request, progress, null))
                .onErrorResume(SandboxProblem.Asleep.class, asleep -> resume(ref)
                        .elapsed()
                        .flatMap(resumed -> run(
                                resumed.getT2(),
                                request.within(request.limits().after(Duration.ofMillis(resumed.getT1()))),
                                progress,
                                ResumeNotice.of(asleep.reason()))));
    }

    /** Does something short with a sandbox that must be running; the answer says if it had to be brought back for it. */
    Mono<ToolResult> use(SandboxRef ref, Function<RunningSandbox, Mono<ToolResult>> deed) {
        return sandboxes
                .running(ref)
                .flatMap(sandbox -> use(sandbox, deed))
                .onErrorResume(SandboxProblem.Asleep.class, asleep -> useResumed(ref, deed, asleep.reason()));
    }

    private Mono<ToolResult> useResumed(
            SandboxRef ref, Function<RunningSandbox, Mono<ToolResult>> deed, String suspendedFor) {
        String notice = ResumeNotice.of(suspendedFor);
        return resume(ref)
                .flatMap(sandbox -> use(sandbox, deed))
                .map(result -> result.and(notice))
                .onErrorMap(
                        SandboxProblem.Refused.class,
                        refused -> new SandboxProblem.Refused(refused.text() + " " + notice));
    }

    private Mono<ToolResult> use(RunningSandbox sandbox, Function<RunningSandbox, Mono<ToolResult>> deed) {
        sandboxes.active(sandbox, Duration.ZERO);
        return deed.apply(sandbox);
    }

    private Mono<ToolResult> run(
            RunningSandbox sandbox, ExecutionRequest request, OutputListener progress, @Nullable String notice) {
        sandboxes.active(sandbox, request.limits().timeout());
        long since = denied.now();
        return executions
                .run(sandbox, request, new QueueNote(sandbox, request, progress))
                .flatMap(result -> denied.told(sandbox.uid(), result, since)
                        .map(refused -> ExecutionAnswer.of(result, notice, refused)));
    }

    private Mono<RunningSandbox> resume(SandboxRef ref) {
        Mono<RunningSandbox> resumed = sandboxes
                .resume(ref)
                .flatMap(sandbox -> executions.awaitKernel(sandbox).thenReturn(sandbox));
        Mono<RunningSandbox> late = Mono.firstWithSignal(Mono.delay(resumeWait).then(), executions.drained())
                .then(Mono.error(() -> SandboxProblem.NotRunning.resuming(ref, PendingWords.of(sandboxes.find(ref)))));
        return Mono.firstWithSignal(resumed, late);
    }

    /** Passes on what is printed, and notes that a sandbox is used until the turn of one that waits, and for its time. */
    private final class QueueNote implements OutputListener {
        private final RunningSandbox sandbox;
        private final ExecutionRequest request;
        private final OutputListener progress;

        private QueueNote(RunningSandbox sandbox, ExecutionRequest request, OutputListener progress) {
            this.sandbox = sandbox;
            this.request = request;
            this.progress = progress;
        }

        @Override
        public CompletionStage<?> output(long bytesSoFar, String text) {
            return progress.output(bytesSoFar, text);
        }

        @Override
        public void queued(Duration atMost) {
            sandboxes.active(sandbox, atMost.plus(request.limits().timeout()));
        }
    }
}
