package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Shortage;
import java.time.Duration;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Waits for a sandbox that was told to start, wakes it if it sleeps, and sees when waiting has become pointless. */
final class StartWait {

    /** How long one that was woken may sleep on before it is woken again. */
    private static final Duration WAKE_AGAIN = Duration.ofSeconds(2);

    private final SandboxCache cache;
    private final SandboxStateReader view;
    private final ApiCalls calls;
    private final SandboxOrders orders;
    private final ActivityLeases leases;
    private final IdleSandboxes idle;
    private final Duration troubleGrace;

    /**
     * For all sandboxes.
     *
     * @param troubleGrace how long a trouble that may pass is given to do so
     */
    StartWait(
            SandboxCache cache,
            SandboxStateReader view,
            ApiCalls calls,
            SandboxOrders orders,
            ActivityLeases leases,
            IdleSandboxes idle,
            Duration troubleGrace) {
        this.cache = cache;
        this.view = view;
        this.calls = calls;
        this.orders = orders;
        this.leases = leases;
        this.idle = idle;
        this.troubleGrace = troubleGrace;
    }

    /** The sandbox when it is Ready, or the error when it cannot become so; never times out by itself. */
    Mono<RunningSandbox> forReady(SandboxRef ref, Sandbox written) {
        boolean asleep = view.of(ref.tenant(), written)
                .filter(SandboxState.Asleep.class::isInstance)
                .isPresent();
        // It may fall asleep right now: its idle time is over, or this start gave it a shorter life than it has had.
        return asleep ? wake(ref, written).then(ready(ref, written, WAKE_AGAIN)) : ready(ref, written, Duration.ZERO);
    }

    private Mono<Void> wake(SandboxRef ref, Sandbox sleeper) {
        return calls.about(ref, () -> {
                    leases.wake(sleeper);
                    return true;
                })
                .then();
    }

    /** Again and again, by the status of each moment: it may have fallen asleep anew, later than that wish to wake it. */
    private Mono<RunningSandbox> keptAwake(SandboxRef ref, Sandbox resource, Duration first) {
        return Flux.interval(first, WAKE_AGAIN)
                .onBackpressureDrop()
                .concatMap(
                        turn -> wake(ref, cache.get(ref.namespace(), ref.name()).orElse(resource))
                                .onErrorComplete(SandboxProblem.Unavailable.class),
                        1)
                .then(Mono.never());
    }

    private Mono<RunningSandbox> ready(SandboxRef ref, Sandbox written, Duration firstWake) {
        long generation = SandboxStateReader.generationOf(written);
        return present(ref, written.getMetadata().getUid())
                .filter(now -> SandboxStateReader.isObserved(now, generation))
                .mapNotNull(resource -> view.of(ref.tenant(), resource).orElse(null))
                .distinctUntilChanged()
                .switchMap(state ->
                        state instanceof SandboxState.Asleep ? keptAwake(ref, written, firstWake) : outcome(ref, state))
                .next();
    }

    /** That resource whenever it changes; an error once it is gone or going, also if another has its name then. */
    private Flux<Sandbox> present(SandboxRef ref, String uid) {
        return cache.follow(ref.namespace(), ref.name())
                .skipUntil(now -> isThat(now, uid))
                // The cache may follow late, and may have missed one that was there for a moment only.
                .timeout(Mono.delay(KubernetesSandboxes.CACHE_LAG), seen -> Mono.never(), look(ref, uid))
                .handle((now, sink) -> {
                    if (!isThat(now, uid)) {
                        sink.error(deleted(ref));
                    } else if (now.orElseThrow().isMarkedForDeletion()) {
                        sink.error(leaving(ref, now.orElseThrow()));
                    } else {
                        sink.next(now.orElseThrow());
                    }
                });
    }

    /** What the API server says of it, then what the cache says. */
    private Flux<Optional<Sandbox>> look(SandboxRef ref, String uid) {
        return calls.about(ref, () -> orders.read(ref))
                .filter(now -> !isThat(now, uid))
                .onErrorComplete(SandboxProblem.Unavailable.class)
                .flux()
                .concatWith(cache.follow(ref.namespace(), ref.name()).skipUntil(now -> isThat(now, uid)));
    }

    private static boolean isThat(Optional<Sandbox> now, String uid) {
        return now.filter(resource -> uid.equals(resource.getMetadata().getUid()))
                .isPresent();
    }

    private static SandboxProblem deleted(SandboxRef ref) {
        return new SandboxProblem.StartFailed(ref, "Deleted", "somebody deleted it while it was starting");
    }

    /** Only finalizers keep what is deleted, and how long it stays is theirs. */
    private static SandboxProblem leaving(SandboxRef ref, Sandbox resource) {
        return new SandboxProblem.StartFailed(
                ref,
                "Deleted",
                "it is being deleted, and is gone when its finalizers (%s) are."
                        .formatted(String.join(", ", resource.getMetadata().getFinalizers())),
                NextStep.Plain.START_WHEN_GONE);
    }

    /** What a state means for one who waits for Ready: the sandbox, an error, or nothing yet. */
    private Mono<RunningSandbox> outcome(SandboxRef ref, SandboxState state) {
        return switch (state) {
            case SandboxState.Running(RunningSandbox sandbox) -> Mono.just(sandbox);
            case SandboxState.Asleep asleep -> throw new IllegalStateException("Who sleeps is woken, not waited for");
            case SandboxState.Stopped stopped ->
                Mono.error(new SandboxProblem.StartFailed(ref, "Stopped", "somebody stopped it while it was starting"));
            case SandboxState.Pending pending -> pending(ref, pending);
        };
    }

    private Mono<RunningSandbox> pending(SandboxRef ref, SandboxState.Pending pending) {
        Optional<Reason> reason = Optional.ofNullable(pending.reason()).flatMap(Reason::of);
        if (reason.isEmpty() || !pending.isInTrouble()) {
            return Mono.never();
        }
        Mono<RunningSandbox> failure = Mono.defer(() -> step(ref, pending))
                .flatMap(step -> Mono.error(new SandboxProblem.StartFailed(
                        ref, reason.get().value(), pending.cause().orElse("no reason given"), step.orElse(null))));
        return reason.get().isFinal() ? failure : Mono.delay(troubleGrace).then(failure);
    }

    /** Callers of a shared MCP server can neither see nor change the sandbox in which it runs, so they get no step. */
    private Mono<Optional<NextStep>> step(SandboxRef ref, SandboxState.Pending pending) {
        Shortage shortage = view.ofServers() ? null : pending.shortage().orElse(null);
        return switch (shortage) {
            case Shortage.Full _ -> idle.besides(ref).map(Optional::of);
            case Shortage.TooLarge _ -> Mono.just(Optional.of(NextStep.Plain.ASK_FOR_LESS));
            case Shortage.Other _ -> Mono.just(Optional.empty());
            case null -> Mono.just(Optional.empty());
        };
    }
}
