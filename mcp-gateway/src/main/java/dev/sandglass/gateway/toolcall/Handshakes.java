package dev.sandglass.gateway.toolcall;

import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.api.toolserver.ServerInfo;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.SharedServer;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * What this replica learns of servers when it starts them and when their tools are listed, for people who look at them. A
 * server whose tools no code asks for soon is asked here. Everything is done behind the calls. Thread-safe.
 */
final class Handshakes {

    /** For so long after a start it is left to code to ask for the tools. */
    static final Duration QUIET = Duration.ofSeconds(2);

    private static final int MOST_REMEMBERED = 1024;

    /** How a supervisor says that a server did not start, or did not speak MCP. */
    private static final Set<String> UNAVAILABLE = Set.of("mcp_start_failed", "mcp_timeout");

    private final ServerPods pods;
    private final HandshakeWriter writer;
    private final Scheduler clock;
    private final Scheduler worker;

    /** A list has megabytes: those that only we ask for come one at a time. */
    private final CallQueue lists = new CallQueue();

    /** By UID of the server. */
    private final Recent<Started> started = new Recent<>(MOST_REMEMBERED);

    Handshakes(ServerPods pods, HandshakeWriter writer, Scheduler clock, Scheduler worker) {
        this.pods = pods;
        this.writer = writer;
        this.clock = clock;
        this.worker = worker;
    }

    /** A server that answered, and whether its tools were listed since. */
    private record Started(RunningSandbox pod, String revision, ServerInfo info, AtomicBoolean listed) {}

    /** A server answered in that pod. */
    void started(RunningSandbox pod, SharedServer server, RegisteredServer.Info info) {
        var start = new Started(
                pod,
                server.identity().revision(),
                new ServerInfo(info.name(), info.version(), info.protocolVersion()),
                new AtomicBoolean());
        started.put(server.identity().uid(), start);
        clock.schedule(() -> list(server, start), QUIET.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void list(SharedServer server, Started start) {
        if (!start.listed().compareAndSet(false, true)) {
            return;
        }
        Mono<Optional<ToolListing>> listing = pods.tools(start.pod(), server)
                .publishOn(worker)
                .map(tools -> ToolListing.of(server.name(), tools, server.rules()));
        lists.inTurn("", 1, server.identity().uid(), listing)
                .onErrorReturn(Optional.empty())
                .subscribe(tools -> note(server, start, tools));
    }

    /** A server listed its tools for code, or for a registration. */
    void listed(SharedServer server, ToolListing listing) {
        started.get(server.identity().uid())
                .filter(start -> start.revision().equals(server.identity().revision()))
                .ifPresent(start -> {
                    start.listed().set(true);
                    note(server, start, Optional.of(listing));
                });
    }

    private void note(SharedServer server, Started start, Optional<ToolListing> tools) {
        SharedServer.Identity identity = server.identity();
        writer.note(
                identity,
                new ServerHandshake(
                        identity.uid(),
                        identity.generation(),
                        true,
                        start.info(),
                        tools.map(ToolListing::count).orElse(null),
                        tools.map(ToolListing::hash).orElse(null)));
    }

    /** A registration failed: be it that the server does not start, be it that its pod did not answer, which says nothing. */
    void failed(SharedServer server, Throwable failure) {
        if (LinkException.unwrap(failure) instanceof LinkException why && UNAVAILABLE.contains(why.code())) {
            SharedServer.Identity identity = server.identity();
            writer.note(identity, ServerHandshake.failed(identity.uid(), identity.generation()));
        }
    }
}
