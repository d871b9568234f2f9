package dev.sandglass.gateway.action;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.SandboxContents;
import dev.sandglass.gateway.execution.SandboxMetrics;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Finds out which sandboxes there are, what is in them and what they use. */
public final class Overview {

    /** Most sandboxes of one answer. */
    public static final int MOST_SANDBOXES = 1000;

    /** Asked at the same time; each answer is one small message. */
    private static final int FAN_OUT = 64;

    private final Sandboxes sandboxes;
    private final Executions executions;

    Overview(Sandboxes sandboxes, Executions executions) {
        this.sandboxes = sandboxes;
        this.executions = executions;
    }

    /**
     * One sandbox, and what it answered.
     *
     * @param answer empty if it does not run, or did not answer in time
     * @param <T> what it was asked for
     */
    public record Entry<T>(SandboxState state, Optional<T> answer) {}

    /**
     * What all sandboxes answered.
     *
     * @param entries ordered by tenant and name
     * @param truncated there are more than one answer has
     * @param <T> what they were asked for
     */
    public record Answers<T>(List<Entry<T>> entries, boolean truncated) {

        /** Keeps its own copy of the list. */
        public Answers {
            entries = List.copyOf(entries);
        }
    }

    /**
     * The sandboxes of a selection, from the cache, ordered by tenant and name.
     *
     * @throws SandboxProblem.NotFound if the one that was named does not exist
     */
    public List<SandboxState> find(Selection selection) {
        return switch (selection) {
            case Selection.One(SandboxRef ref) ->
                List.of(sandboxes
                        .find(ref)
                        .orElseThrow(() -> new SandboxProblem.NotFound(ref.givenName(), ref.tenant())));
            case Selection.All(List<TenantAccess.Tenant> tenants, Optional<String> givenName) ->
                tenants.stream()
                        .flatMap(this::all)
                        .filter(state ->
                                givenName.isEmpty() || state.ref().givenName().equals(givenName.get()))
                        .toList();
        };
    }

    private Stream<SandboxState> all(TenantAccess.Tenant tenant) {
        return sandboxes.list(tenant.name(), tenant.namespace()).stream();
    }

    /** The sessions and newest executions of those that run and answer within that time. */
    public Mono<Answers<SandboxContents>> contents(List<SandboxState> chosen, Duration atMost) {
        return ask(chosen, executions.sessions()::list, atMost);
    }

    /** What those use that run and answer within that time. */
    public Mono<Answers<SandboxMetrics>> metrics(List<SandboxState> chosen, Duration atMost) {
        return ask(chosen, executions::metrics, atMost);
    }

    private static <T> Mono<Answers<T>> ask(
            List<SandboxState> chosen, Function<RunningSandbox, Mono<T>> question, Duration atMost) {
        return Flux.fromIterable(chosen)
                .take(MOST_SANDBOXES)
                .flatMapSequential(state -> entry(state, question, atMost), FAN_OUT)
                .collectList()
                .map(entries -> new Answers<>(entries, chosen.size() > MOST_SANDBOXES));
    }

    private static <T> Mono<Entry<T>> entry(
            SandboxState state, Function<RunningSandbox, Mono<T>> question, Duration atMost) {
        return state instanceof SandboxState.Running(RunningSandbox sandbox)
                ? question.apply(sandbox)
                        .timeout(atMost)
                        .map(answer -> new Entry<>(state, Optional.of(answer)))
                        .onErrorReturn(new Entry<>(state, Optional.empty()))
                : Mono.just(new Entry<>(state, Optional.empty()));
    }
}
