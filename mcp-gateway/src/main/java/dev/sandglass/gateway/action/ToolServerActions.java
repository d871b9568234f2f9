package dev.sandglass.gateway.action;

import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.ToolServers;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.toolcall.SharedServerList;
import dev.sandglass.gateway.toolserver.KnownServer;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServerState;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Registers, lists and removes the MCP servers in a sandbox's own pod; they end with that pod. */
public final class ToolServerActions {

    private static final String STARTING = "starting the MCP server";

    private final Sandboxes sandboxes;
    private final ReadySandboxes ready;
    private final Executions executions;
    private final ToolServers servers;
    private final SharedServerList shared;

    ToolServerActions(Sandboxes sandboxes, ReadySandboxes ready, Executions executions, SharedServerList shared) {
        this.sandboxes = sandboxes;
        this.ready = ready;
        this.executions = executions;
        this.servers = executions.toolServers();
        this.shared = shared;
    }

    /** What came of a registration. */
    public sealed interface Registered {

        /** The server runs. */
        record Running(RegisteredServer server) implements Registered {}

        /** Its start goes on behind the answer. */
        record StillStarting() implements Registered {}
    }

    /**
     * Registers a server in a sandbox, which is resumed for it. The answer comes after that long at most, less what it took
     * to resume the sandbox; the start goes on.
     */
    public Mono<Used<Registered>> register(
            SandboxRef ref, Registration registration, Duration atMost, Patience patience) {
        return Mono.defer(() -> {
            long begin = System.nanoTime();
            return ready.use(ref, patience, sandbox -> {
                patience.progress().doing(STARTING);
                Duration left = atMost.minusNanos(System.nanoTime() - begin);
                Mono<Registered> late = Mono.firstWithSignal(
                                Mono.delay(left.isNegative() ? Duration.ZERO : left)
                                        .then(),
                                executions.drained())
                        .thenReturn(new Registered.StillStarting());
                return Mono.firstWithSignal(started(sandbox, registration).map(Registered.Running::new), late);
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
        return ready.ready(ref, absent, patience).flatMap(found -> {
            patience.progress().doing(STARTING);
            return started(found.sandbox(), registration)
                    .map(server -> new Placed(server, found.resumed(), found.created()));
        });
    }

    private Mono<RegisteredServer> started(RunningSandbox sandbox, Registration registration) {
        sandboxes.active(sandbox, registration.timeout());
        return servers.register(sandbox, registration);
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

    /** Ends a server of a sandbox that runs, and forgets it. */
    public Mono<Void> remove(SandboxRef ref, String name) {
        return in(ref, sandbox -> servers.remove(sandbox, name));
    }

    private <T> Mono<T> in(SandboxRef ref, Function<RunningSandbox, Mono<T>> deed) {
        return sandboxes.running(ref).flatMap(sandbox -> {
            sandboxes.active(sandbox, Duration.ZERO);
            return deed.apply(sandbox);
        });
    }
}
