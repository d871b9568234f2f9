package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Gives a use case its running sandbox: resumes one that the operator suspended. */
final class ReadySandboxes {

    private final Sandboxes sandboxes;
    private final Executions executions;

    ReadySandboxes(Sandboxes sandboxes, Executions executions) {
        this.sandboxes = sandboxes;
        this.executions = executions;
    }

    /**
     * A sandbox that can be used now.
     *
     * @param resumed null if it was running
     * @param waited how long it took to resume it
     */
    record Ready(RunningSandbox sandbox, @Nullable Resumed resumed, Duration waited) {}

    /** The sandbox, once it can be used. */
    Mono<Ready> ready(SandboxRef ref, Patience patience) {
        return sandboxes
                .running(ref)
                .map(sandbox -> new Ready(sandbox, null, Duration.ZERO))
                .onErrorResume(SandboxProblem.Asleep.class, asleep -> resume(ref, patience)
                        .elapsed()
                        .map(resumed -> new Ready(
                                resumed.getT2(), new Resumed(asleep.reason()), Duration.ofMillis(resumed.getT1()))));
    }

    /** Does something short with the sandbox, and records the activity. */
    <T> Mono<Used<T>> use(SandboxRef ref, Patience patience, Function<RunningSandbox, Mono<T>> deed) {
        return sandboxes
                .running(ref)
                .flatMap(sandbox -> use(sandbox, deed))
                .<Used<T>>map(value -> new Used.Done<>(value, null))
                .onErrorResume(
                        SandboxProblem.Asleep.class,
                        asleep -> useResumed(ref, patience, deed, new Resumed(asleep.reason())));
    }

    private <T> Mono<Used<T>> useResumed(
            SandboxRef ref, Patience patience, Function<RunningSandbox, Mono<T>> deed, Resumed resumed) {
        return resume(ref, patience)
                .flatMap(sandbox -> use(sandbox, deed))
                .<Used<T>>map(value -> new Used.Done<>(value, resumed))
                .onErrorResume(
                        SandboxProblem.Refused.class, refused -> Mono.just(new Used.Refused<>(refused, resumed)));
    }

    private <T> Mono<T> use(RunningSandbox sandbox, Function<RunningSandbox, Mono<T>> deed) {
        sandboxes.active(sandbox, Duration.ZERO);
        return deed.apply(sandbox);
    }

    private Mono<RunningSandbox> resume(SandboxRef ref, Patience patience) {
        patience.progress().doing("resuming the sandbox");
        Mono<RunningSandbox> resumed = sandboxes
                .resume(ref)
                .flatMap(sandbox -> executions.awaitKernel(sandbox).thenReturn(sandbox));
        Mono<RunningSandbox> late = Mono.firstWithSignal(
                        Mono.delay(patience.atMost()).then(), executions.drained())
                .then(Mono.error(() -> SandboxProblem.NotRunning.resuming(
                        ref, sandboxes.find(ref).flatMap(SandboxState::condition))));
        return Mono.firstWithSignal(resumed, late, StartProgress.told(sandboxes.states(ref), patience.progress()));
    }
}
