package dev.sandglass.gateway.action;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.execution.Sessions;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/** Interrupts, resets and closes sessions of a sandbox that runs; a suspended one is not resumed for it. */
public final class SessionActions {

    private final Sandboxes sandboxes;
    private final Sessions sessions;

    SessionActions(Sandboxes sandboxes, Sessions sessions) {
        this.sandboxes = sandboxes;
        this.sessions = sessions;
    }

    /** Interrupts what runs in a session. */
    public Mono<Interruption> interrupt(SandboxRef ref, Session.Name name) {
        return in(ref, sandbox -> sessions.interrupt(sandbox, name).map(SessionActions::met));
    }

    private static Interruption met(Sessions.Interrupted what) {
        if (!what.known()) {
            return new Interruption.NoSession();
        }
        return what.executions().stream()
                .findFirst()
                .<Interruption>map(Interruption.Interrupted::new)
                .orElseGet(Interruption.Idle::new);
    }

    /** Interrupts one execution, of whatever kind. */
    public Mono<Interruption> interrupt(SandboxRef ref, ExecutionId id) {
        return in(ref, sandbox -> interrupt(sandbox, id));
    }

    /**
     * What an interrupt by an execution's id alone met.
     *
     * @param sandbox in which the execution ran or runs
     */
    public record Found(SandboxRef sandbox, Interruption met) {}

    /** Interrupts one execution, wherever it is; empty if its sandbox was deleted. */
    public Mono<Optional<Found>> interrupt(TenantAccess.Tenant tenant, ExecutionId id) {
        return sandboxes
                .findByUid(tenant.name(), tenant.namespace(), id.sandboxUid(), id.incarnation())
                .flatMap(found -> found.map(
                                state -> interrupt(state, id).map(met -> Optional.of(new Found(state.ref(), met))))
                        .orElseGet(() -> Mono.just(Optional.empty())));
    }

    private Mono<Interruption> interrupt(SandboxState state, ExecutionId id) {
        return state.isRunning() ? interrupt(state.ref(), id) : Mono.just(new Interruption.OfEarlierPod());
    }

    private Mono<Interruption> interrupt(RunningSandbox sandbox, ExecutionId id) {
        if (!id.tenant().equals(sandbox.ref().tenant()) || !id.sandboxUid().equals(sandbox.uid())) {
            return Mono.just(new Interruption.OfAnotherSandbox());
        }
        if (!id.isOf(sandbox)) {
            return Mono.just(new Interruption.OfEarlierPod());
        }
        return sessions.interrupt(sandbox, id)
                .map(done -> done ? new Interruption.Interrupted(id) : new Interruption.AlreadyEnded(id));
    }

    /** Gives a session a fresh kernel; false if there was no such session. */
    public Mono<Boolean> reset(SandboxRef ref, Session.Name name) {
        return in(ref, sandbox -> sessions.reset(sandbox, name));
    }

    /** Ends a session's kernel and forgets the session; false if there was no such session. */
    public Mono<Boolean> close(SandboxRef ref, Session.Name name) {
        return in(ref, sandbox -> sessions.close(sandbox, name));
    }

    private <T> Mono<T> in(SandboxRef ref, Function<RunningSandbox, Mono<T>> deed) {
        return sandboxes.running(ref).flatMap(sandbox -> {
            sandboxes.active(sandbox, Duration.ZERO);
            return deed.apply(sandbox);
        });
    }
}
