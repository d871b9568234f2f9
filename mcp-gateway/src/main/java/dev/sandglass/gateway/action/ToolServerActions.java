package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.ToolServers;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.toolcall.SharedServerList;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.KnownServer;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServerState;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Registers, lists and removes MCP servers: in a sandbox's own pod, with which they end, or in pods of their own. */
public final class ToolServerActions {

    private static final String STARTING = "starting the MCP server";

    /** For so long the start of a pod of its own keeps the sandbox from sleeping. */
    private static final Duration APART = Duration.ofMinutes(5);

    private final Sandboxes sandboxes;
    private final ReadySandboxes ready;
    private final Executions executions;
    private final ToolServers servers;
    private final SharedServerList shared;
    private final AgentServerActions apart;

    ToolServerActions(
            Sandboxes sandboxes,
            ReadySandboxes ready,
            Executions executions,
            SharedServerList shared,
            OwnPods ownPods) {
        this.sandboxes = sandboxes;
        this.ready = ready;
        this.executions = executions;
        this.servers = executions.toolServers();
        this.shared = shared;
        this.apart = new AgentServerActions(ownPods, servers);
    }

    /** What came of a registration. */
    public sealed interface Registered {

        /** The server runs. */
        record Running(RegisteredServer server) implements Registered {}

        /** The server runs in a pod of its own. */
        record RunningApart(RegisteredServer server) implements Registered {}

        /**
         * Its start goes on behind the answer.
         *
         * @param replaces whether code calls the one before until then
         */
        record StillStarting(boolean replaces) implements Registered {}
    }

    /**
     * Registers a server in a sandbox, which is resumed for it. The answer comes after that long at most, less what it took
     * to resume the sandbox; the start goes on.
     */
    public Mono<Used<Registered>> register(
            SandboxRef ref, Registration registration, Duration atMost, Patience patience) {
        return within(ref, registration.name(), atMost, patience, sandbox -> started(sandbox, registration)
                .map(Registered.Running::new));
    }

    /**
     * Registers a server in a pod of its own, for the code of one sandbox, which is resumed for it. The answer comes as that
     * of a server in the sandbox's pod.
     */
    public Mono<Used<Registered>> registerApart(SandboxRef ref, Wanted wanted, Duration atMost, Patience patience) {
        return Mono.defer(() -> {
            apart.checkPermitted(wanted.registration());
            String name = wanted.registration().name();
            return within(ref, name, atMost, patience, sandbox -> startedApart(sandbox, wanted)
                    .map(Registered.RunningApart::new));
        });
    }

    private Mono<Used<Registered>> within(
            SandboxRef ref,
            String name,
            Duration atMost,
            Patience patience,
            Function<RunningSandbox, Mono<Registered>> registering) {
        return Mono.defer(() -> {
            long begin = System.nanoTime();
            return ready.use(ref, patience, sandbox -> {
                patience.progress().doing(STARTING);
                Duration left = atMost.minusNanos(System.nanoTime() - begin);
                Mono<Registered> late = Mono.firstWithSignal(
                                Mono.delay(left.isNegative() ? Duration.ZERO : left)
                                        .then(),
                                executions.drained())
                        .then(Mono.fromSupplier(
                                () -> new Registered.StillStarting(apart.isBeingReplaced(sandbox.uid(), name))));
                return Mono.firstWithSignal(registering.apply(sandbox), late);
            });
        });
    }

    /**
     * A server that runs, and what became of its sandbox before.
     *
     * @param resumed null if the sandbox was running, or is new
     * @param created whether the sandbox is new
     */
    public record Placed(RegisteredServer server, @Nullable Resumed resumed, boolean created) {}

    /**
     * Registers a server in a sandbox, and answers when it runs.
     *
     * @param absent what becomes of a sandbox that is not there
     */
    public Mono<Placed> register(SandboxRef ref, Registration registration, Absent absent, Patience patience) {
        return placed(ref, absent, patience, sandbox -> started(sandbox, registration));
    }

    /**
     * Registers a server in a pod of its own, for the code of one sandbox, and answers when it runs.
     *
     * @param absent what becomes of a sandbox that is not there
     */
    public Mono<Placed> registerApart(SandboxRef ref, Wanted wanted, Absent absent, Patience patience) {
        return Mono.defer(() -> {
            apart.checkPermitted(wanted.registration());
            return placed(ref, absent, patience, sandbox -> startedApart(sandbox, wanted));
        });
    }

    private Mono<Placed> placed(
            SandboxRef ref,
            Absent absent,
            Patience patience,
            Function<RunningSandbox, Mono<RegisteredServer>> registering) {
        return ready.ready(ref, absent, patience).flatMap(found -> {
            patience.progress().doing(STARTING);
            return registering
                    .apply(found.sandbox())
                    .map(server -> new Placed(server, found.resumed(), found.created()));
        });
    }

    private Mono<RegisteredServer> started(RunningSandbox sandbox, Registration registration) {
        sandboxes.active(sandbox, registration.timeout());
        return servers.register(sandbox, registration).delayUntil(server -> apart.replaced(sandbox, server.name()));
    }

    private Mono<RegisteredServer> startedApart(RunningSandbox sandbox, Wanted wanted) {
        sandboxes.active(sandbox, APART);
        return apart.register(sandbox, wanted);
    }

    /**
     * The servers whose tools the code in a sandbox may call.
     *
     * @param own those in its own pod
     * @param shared those that it shares with other sandboxes
     */
    public record Listed(List<KnownServer> own, List<SharedServerState> shared) {

        /** Keeps its own copies. */
        public Listed {
            own = List.copyOf(own);
            shared = List.copyOf(shared);
        }
    }

    /** The servers of a sandbox that runs. */
    public Mono<Listed> list(SandboxRef ref) {
        return in(ref, sandbox -> servers.list(sandbox).map(own -> new Listed(own, shared.of(sandbox.uid()))));
    }

    /** Ends a server of a sandbox, and forgets it. One in a pod of its own needs no sandbox that runs. */
    public Mono<Void> remove(SandboxRef ref, String name) {
        return in(ref, sandbox -> servers.remove(sandbox, name))
                .onErrorResume(ToolServerActions::isNotInPod, notThere -> sandboxes
                        .find(ref)
                        .map(state -> apart.remove(ref, state.uid(), name))
                        .orElseGet(() -> Mono.just(false))
                        .flatMap(removed -> removed ? Mono.empty() : Mono.error(notThere)));
    }

    private static boolean isNotInPod(Throwable failure) {
        return failure instanceof SandboxProblem.Asleep
                || failure instanceof SandboxProblem.NotRunning
                || (failure instanceof ServerRefused refused && refused.why() == ServerRefused.Cause.NO_SERVER);
    }

    private <T> Mono<T> in(SandboxRef ref, Function<RunningSandbox, Mono<T>> deed) {
        return sandboxes.running(ref).flatMap(sandbox -> {
            sandboxes.active(sandbox, Duration.ZERO);
            return deed.apply(sandbox);
        });
    }
}
