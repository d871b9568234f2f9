package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;

/** Runs something in a sandbox that must be running: notes the use, and brings back one that was suspended for idling. */
final class SandboxRuns {

    private final Sandboxes sandboxes;
    private final Executions executions;
    private final Duration resumeWait;

    SandboxRuns(Sandboxes sandboxes, Executions executions, ToolSettings settings) {
        this.sandboxes = sandboxes;
        this.executions = executions;
        this.resumeWait = settings.startWait();
    }

    Mono<ToolResult> run(SandboxRef ref, ExecutionRequest request, OutputListener progress) {
        return sandboxes
                .running(ref)
                .flatMap(sandbox -> run(sandbox, request, progress, false))
                .onErrorResume(SandboxProblem.Asleep.class, asleep -> resume(ref)
                        .flatMap(sandbox -> run(sandbox, request, progress, true)));
    }

    private Mono<ToolResult> run(
            RunningSandbox sandbox, ExecutionRequest request, OutputListener progress, boolean resumed) {
        sandboxes.active(sandbox, request.limits().timeout());
        return executions.run(sandbox, request, progress).map(result -> ExecutionAnswer.of(result, resumed));
    }

    private Mono<RunningSandbox> resume(SandboxRef ref) {
        return sandboxes
                .resume(ref)
                .flatMap(sandbox -> executions.awaitKernel(sandbox).thenReturn(sandbox))
                .timeout(resumeWait)
                .onErrorMap(
                        TimeoutException.class,
                        late -> new SandboxProblem.NotRunning(
                                ref, "it was suspended for idling and is still being resumed; try again in a moment"));
    }
}
