package dev.sandglass.gateway.action;

import dev.sandglass.api.Reason;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** Starts, stops and deletes sandboxes. */
public final class SandboxActions {

    private final Sandboxes sandboxes;
    private final Executions executions;

    SandboxActions(Sandboxes sandboxes, Executions executions) {
        this.sandboxes = sandboxes;
        this.executions = executions;
    }

    /**
     * Creates or resumes a sandbox and waits until a kernel answers. Fails as soon as the cause is known; a start that
     * outlasts the caller's patience goes on.
     *
     * @param createdBy name of the caller
     */
    public Mono<Started> start(SandboxRef ref, SandboxConfig config, String createdBy, Patience patience) {
        if (ref.isReserved() && sandboxes.find(ref).isEmpty()) {
            return Mono.just(new Started.Failed(SandboxProblem.Refused.reserved(ref), false));
        }
        patience.progress().doing("starting the sandbox");
        Mono<Started> started = sandboxes
                .start(ref, config, createdBy, patience.progress()::created)
                .flatMap(sandbox -> Mono.firstWithSignal(verified(sandbox), ended(sandbox)));
        Mono<Started> late = Mono.firstWithSignal(Mono.delay(patience.atMost()).then(), executions.drained())
                .then(Mono.fromSupplier(() -> new Started.StillStarting(sandboxes.find(ref))));
        return Mono.firstWithSignal(started, late, StartProgress.told(sandboxes.states(ref), patience.progress()))
                .onErrorResume(SandboxProblem.class, problem -> Mono.fromSupplier(() -> failed(ref, problem)));
    }

    private Started failed(SandboxRef ref, SandboxProblem problem) {
        boolean kept = problem instanceof SandboxProblem.StartFailed failed
                && Reason.of(failed.reason()).isPresent()
                && sandboxes.find(ref).isPresent();
        return new Started.Failed(problem, kept);
    }

    private Mono<Started> verified(RunningSandbox sandbox) {
        sandboxes.active(sandbox, Duration.ZERO);
        return executions
                .awaitKernel(sandbox)
                .<Started>thenReturn(new Started.Running(sandbox))
                .onErrorResume(
                        problem ->
                                problem instanceof SandboxProblem && !(problem instanceof SandboxProblem.StartFailed),
                        problem -> Mono.just(new Started.Unverified(sandbox, (SandboxProblem) problem)));
    }

    /** A container is called running for a moment, even if its image cannot be a sandbox. */
    private Mono<Started> ended(RunningSandbox sandbox) {
        return sandboxes.ends(sandbox).ofType(SandboxEnd.PodGone.class).next().map(end -> new Started.Ended(end.why()));
    }

    /** Ends the pod; the configuration stays. Errors with {@link SandboxProblem.NotFound}. */
    public Mono<Void> stop(SandboxRef ref) {
        return sandboxes.stop(ref);
    }

    /** Ends the pod and deletes the configuration. Errors with {@link SandboxProblem.NotFound}. */
    public Mono<Deletion> delete(SandboxRef ref) {
        return sandboxes.delete(ref);
    }
}
