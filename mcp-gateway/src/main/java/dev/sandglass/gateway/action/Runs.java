package dev.sandglass.gateway.action;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.OutputListener;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import reactor.core.publisher.Mono;

/** Runs code, commands and installers in a sandbox, and reads on what they printed. */
public final class Runs {

    private final Sandboxes sandboxes;
    private final ReadySandboxes ready;
    private final Executions executions;
    private final UnreachedTargets unreached;

    Runs(Sandboxes sandboxes, ReadySandboxes ready, Executions executions, UnreachedTargets unreached) {
        this.sandboxes = sandboxes;
        this.ready = ready;
        this.executions = executions;
        this.unreached = unreached;
    }

    /**
     * Runs it, and follows it as long as the request says, less what it took to make or resume the sandbox. Cancelling
     * interrupts the execution unless it is a background one.
     *
     * @param absent what becomes of a sandbox that is not there
     * @param patience how long to wait for a sandbox that has to be made or resumed
     */
    public Mono<Run> run(SandboxRef ref, ExecutionRequest request, Absent absent, Patience patience) {
        return ready.ready(ref, absent, patience)
                .flatMap(found -> run(
                        found,
                        found.waited().isZero()
                                ? request
                                : request.within(request.limits().after(found.waited())),
                        patience.progress()));
    }

    private Mono<Run> run(ReadySandboxes.Ready found, ExecutionRequest request, OutputListener progress) {
        RunningSandbox sandbox = found.sandbox();
        sandboxes.active(sandbox, request.limits().timeout());
        long since = unreached.now();
        return executions
                .run(sandbox, request, new QueueNote(sandbox, request, progress))
                .flatMap(result -> unreached
                        .during(sandbox.uid(), result, since)
                        .map(hosts -> new Run(result, found.resumed(), found.created(), hosts)));
    }

    /**
     * Which part of an execution's output is read.
     *
     * @param offset of its first byte
     * @param waitFor how long to follow an execution that still runs
     * @param maxOutputChars size of the page
     */
    public record Part(long offset, Duration waitFor, int maxOutputChars) {}

    /** Reads an execution's output on, whichever replica started it. Cancelling stops the reading, never the execution. */
    public Mono<Reading> read(TenantAccess.Tenant tenant, ExecutionId id, Part part, OutputListener progress) {
        long since = unreached.now();
        return sandboxes
                .findByUid(tenant.name(), tenant.namespace(), id.sandboxUid(), id.incarnation())
                .flatMap(state -> running(state, id)
                        .map(sandbox -> read(sandbox, id, part, progress, since))
                        .orElseGet(() -> Mono.just(
                                new Reading.PodGone(id, state, unreached.during(id.sandboxUid(), id, since)))));
    }

    private Mono<Reading> read(RunningSandbox sandbox, ExecutionId id, Part part, OutputListener progress, long since) {
        sandboxes.active(sandbox, part.waitFor());
        return executions
                .read(sandbox, id, part.offset(), part.waitFor(), part.maxOutputChars(), progress)
                .flatMap(result -> unreached
                        .during(id.sandboxUid(), result, since)
                        .map(hosts -> new Reading.Page(new Run(result, null, false, hosts))));
    }

    /** The sandbox in which the execution still lives: the same incarnation, and running. */
    private static Optional<RunningSandbox> running(Optional<SandboxState> found, ExecutionId id) {
        return found.flatMap(state -> state instanceof SandboxState.Running(RunningSandbox sandbox)
                        ? Optional.of(sandbox)
                        : Optional.empty())
                .filter(sandbox -> sandbox.incarnation() == id.incarnation());
    }

    /** Passes on what is printed, and records that a sandbox is used until the turn of one that waits, and for its time. */
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
        public void doing(String what) {
            progress.doing(what);
        }

        @Override
        public void queued(Duration atMost) {
            sandboxes.active(sandbox, atMost.plus(request.limits().timeout()));
        }
    }
}
