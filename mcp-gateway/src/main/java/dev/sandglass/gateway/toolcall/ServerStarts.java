package dev.sandglass.gateway.toolcall;

import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * Brings servers up: wakes the pod of one that sleeps, and registers the server there with the first call. Calls that come
 * together share one start, which goes on without them. Thread-safe.
 */
final class ServerStarts {

    /** How long a pod may take until it can be asked. */
    static final Duration POD = Duration.ofMinutes(3);

    /** For so long every call is told how a start failed, and none tries again. */
    static final Duration REST = Duration.ofSeconds(5);

    private static final int MOST_REMEMBERED = 1024;

    // Another replica registers the same server just now.
    private static final String REGISTERING = "mcp_registering";
    private static final Duration ASK_AGAIN = Duration.ofMillis(500);

    private final Sandboxes children;
    private final OfPods pods;
    private final Handshakes handshakes;
    private final Scheduler clock;

    /** By revision. Starts under way, and those that failed a moment ago. */
    private final Map<String, Mono<RunningSandbox>> starts = new ConcurrentHashMap<>();

    /** By UID of the server: which revision is registered where. */
    private final Recent<Registered> registered = new Recent<>(MOST_REMEMBERED);

    /**
     * What has to do with the pods of servers.
     *
     * @param asked what they are asked
     * @param use records that they are used
     * @param refused which hosts they do not reach
     */
    record OfPods(ServerPods asked, ServerUse use, RefusedHosts refused) {}

    ServerStarts(Sandboxes children, OfPods pods, Handshakes handshakes, Scheduler clock) {
        this.children = children;
        this.pods = pods;
        this.handshakes = handshakes;
        this.clock = clock;
    }

    private record Registered(String childUid, int incarnation, String revision) {
        static Registered of(RunningSandbox child, SharedServer server) {
            return new Registered(
                    child.uid(), child.incarnation(), server.identity().revision());
        }
    }

    /** The sandbox in whose pod a server runs. */
    static SandboxRef child(SharedServer server) {
        String namespace = server.identity().namespace();
        String name = SandboxToolServer.childName(server.identity().resource());
        return new SandboxRef(namespace, namespace, name, name);
    }

    /** The pod of a server that can be called; fails with what {@link CallProblem#ofStart} makes of it. */
    Mono<RunningSandbox> ready(SharedServer server) {
        return Mono.defer(() -> {
            Optional<RunningSandbox> known = known(server);
            return known.isPresent() ? Mono.just(known.get()) : started(server);
        });
    }

    private Optional<RunningSandbox> known(SharedServer server) {
        return children.find(child(server))
                .flatMap(state -> state instanceof SandboxState.Running(RunningSandbox child)
                        ? Optional.of(child)
                        : Optional.empty())
                .filter(child -> registered
                        .get(server.identity().uid())
                        .filter(Registered.of(child, server)::equals)
                        .isPresent());
    }

    private Mono<RunningSandbox> started(SharedServer server) {
        String key = server.identity().revision();
        // Looked for once more: a start that is over by now is not under way, but has registered.
        Mono<RunningSandbox> start =
                Mono.defer(() -> known(server).map(Mono::just).orElseGet(() -> start(server)));
        return starts.computeIfAbsent(key, _ -> start.onErrorMap(failure -> CallProblem.ofStart(server.name(), failure))
                .doOnSuccess(_ -> starts.remove(key))
                .doOnError(_ -> clock.schedule(() -> starts.remove(key), REST.toMillis(), TimeUnit.MILLISECONDS))
                .cache());
    }

    private Mono<RunningSandbox> start(SharedServer server) {
        if (server.trouble().isPresent()) {
            return Mono.error(() -> CallProblem.NOT_RUNNING.because("MCP server '%s' is not running: %s"
                    .formatted(server.name(), server.trouble().get())));
        }
        SandboxRef ref = child(server);
        return Mono.defer(() -> children.running(ref))
                .onErrorResume(SandboxProblem.class, problem -> awaited(ref, problem))
                .timeout(POD, Mono.error(() -> stillStarting(ref)), clock)
                .flatMap(child ->
                        pods.use().during(child, registered(child, server)).thenReturn(child));
    }

    /** One that was stopped stays so; one that is not there yet, the operator makes. */
    private Mono<RunningSandbox> awaited(SandboxRef ref, SandboxProblem problem) {
        return switch (problem) {
            case SandboxProblem.Asleep _ -> children.resume(ref);
            case SandboxProblem.NotRunning why when why.next() == NextStep.Plain.AWAIT_START -> children.resume(ref);
            case SandboxProblem.NotFound _ ->
                children.states(ref).filter(Optional::isPresent).next().then(Mono.defer(() -> children.resume(ref)));
            default -> Mono.error(problem);
        };
    }

    private SandboxProblem stillStarting(SandboxRef ref) {
        Optional<SandboxState> state = children.find(ref);
        return state.isEmpty()
                ? new SandboxProblem.NotFound(ref.givenName(), ref.tenant())
                : SandboxProblem.NotRunning.starting(ref, state.flatMap(SandboxState::condition));
    }

    private Mono<RegisteredServer.Info> registered(RunningSandbox child, SharedServer server) {
        Duration patience = server.registration().timeout();
        Mono<RegisteredServer.Info> attempt = pods.asked()
                .register(child, server)
                .retryWhen(Retry.fixedDelay(patience.dividedBy(ASK_AGAIN), ASK_AGAIN)
                        .scheduler(clock)
                        .filter(failure -> LinkException.unwrap(failure) instanceof LinkException why
                                && why.isRefusal(REGISTERING))
                        .onRetryExhaustedThrow((_, last) -> last.failure()));
        return pods.refused()
                .named(child, server, attempt)
                .doOnNext(info -> {
                    registered.put(server.identity().uid(), Registered.of(child, server));
                    handshakes.started(child, server, info);
                })
                .doOnError(failure -> handshakes.failed(server, failure));
    }

    /** The pod does not know the server any more, such as one whose container was restarted: the next call registers it. */
    void forget(SharedServer server) {
        registered.remove(server.identity().uid());
    }
}
