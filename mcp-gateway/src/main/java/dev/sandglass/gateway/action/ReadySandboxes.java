package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Gives a use case its running sandbox: resumes one that the operator suspended, makes one that is not there. */
final class ReadySandboxes {

    private final Sandboxes sandboxes;
    private final Executions executions;

    private final SandboxActions lifecycle;

    ReadySandboxes(Sandboxes sandboxes, Executions executions, SandboxActions lifecycle) {
        this.sandboxes = sandboxes;
        this.executions = executions;
        this.lifecycle = lifecycle;
    }

    /**
     * A sandbox that can be used now.
     *
     * @param resumed null if it was running, or is new
     * @param created whether it is new
     * @param waited how long it took to make or resume it
     */
    record Ready(RunningSandbox sandbox, @Nullable Resumed resumed, boolean created, Duration waited) {}

    /** The sandbox, once it can be used. */
    Mono<Ready> ready(SandboxRef ref, Absent absent, Patience patience) {
        Mono<Ready> ready = sandboxes
                .running(ref)
                .map(sandbox -> new Ready(sandbox, null, false, Duration.ZERO))
                .onErrorResume(SandboxProblem.Asleep.class, asleep -> resume(ref, patience)
                        .elapsed()
                        .map(resumed -> new Ready(
                                resumed.getT2(),
                                new Resumed(asleep.reason()),
                                false,
                                Duration.ofMillis(resumed.getT1()))));
        return switch (absent) {
            case Absent.Refused _ -> ready;
            case Absent.Created(String by, SandboxConfig config) ->
                ready.onErrorResume(ReadySandboxes::isStarting, starting -> begun(ref, patience)
                                .elapsed()
                                .map(begun -> new Ready(begun.getT2(), null, false, Duration.ofMillis(begun.getT1()))))
                        .onErrorResume(SandboxProblem.NotFound.class, missing -> create(ref, config, by, patience)
                                .elapsed()
                                .map(made -> new Ready(made.getT2(), null, true, Duration.ofMillis(made.getT1()))));
        };
    }

    /** Calls that come together find what the first of them makes. */
    private static boolean isStarting(Throwable problem) {
        return problem instanceof SandboxProblem.NotRunning why && why.next() == NextStep.Plain.AWAIT_START;
    }

    private Mono<RunningSandbox> begun(SandboxRef ref, Patience patience) {
        patience.progress().doing("starting the sandbox");
        return awaited(ref, patience, SandboxProblem.NotRunning::starting);
    }

    private Mono<RunningSandbox> create(SandboxRef ref, SandboxConfig config, String by, Patience patience) {
        return lifecycle.start(ref, config, by, patience).map(started -> switch (started) {
            case Started.Running(RunningSandbox sandbox) -> sandbox;
            case Started.Unverified(RunningSandbox sandbox, SandboxProblem _) -> sandbox;
            case Started.StillStarting(Optional<SandboxState> state) ->
                throw SandboxProblem.NotRunning.starting(ref, state.flatMap(SandboxState::condition));
            case Started.Ended(String why) ->
                throw new SandboxProblem.Refused(
                        "Sandbox '%s' ended before it answered: %s.".formatted(ref.givenName(), why));
            case Started.Failed(SandboxProblem problem, boolean _) -> throw problem;
        });
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
        return awaited(ref, patience, SandboxProblem.NotRunning::resuming);
    }

    private Mono<RunningSandbox> awaited(
            SandboxRef ref, Patience patience, BiFunction<SandboxRef, Optional<String>, SandboxProblem> whyNot) {
        Mono<RunningSandbox> running = sandboxes
                .resume(ref)
                .flatMap(sandbox -> executions.awaitKernel(sandbox).thenReturn(sandbox));
        Mono<RunningSandbox> late = Mono.firstWithSignal(
                        Mono.delay(patience.atMost()).then(), executions.drained())
                .then(Mono.error(() -> whyNot.apply(ref, sandboxes.find(ref).flatMap(SandboxState::condition))));
        return Mono.firstWithSignal(running, late, StartProgress.told(sandboxes.states(ref), patience.progress()));
    }
}
