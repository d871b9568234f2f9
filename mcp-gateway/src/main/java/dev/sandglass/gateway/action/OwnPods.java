package dev.sandglass.gateway.action;

import dev.sandglass.gateway.toolcall.ToolListing;
import dev.sandglass.gateway.toolserver.AgentServerSettings;
import dev.sandglass.gateway.toolserver.AgentServers;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers;
import java.util.List;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * What it takes that agents register MCP servers in pods of their own.
 *
 * @param settings which they may register
 * @param usualDomains what sandboxes without a list may reach
 * @param resources makes and deletes the servers
 * @param known which servers a sandbox may use, those of administrators too
 * @param start starts them
 */
public record OwnPods(
        AgentServerSettings settings,
        List<String> usualDomains,
        AgentServers resources,
        SharedServers known,
        Start start) {

    /** For installations in which agents register none. */
    public static final OwnPods NONE = new OwnPods(
            AgentServerSettings.NONE, List.of(), AgentServers.NONE, SharedServers.NONE, (_, _) -> Mono.never());

    /** Starts servers. */
    @FunctionalInterface
    public interface Start {
        /**
         * Starts a server as its first call would, lists its tools, and does this with the list. The start goes on if it is
         * cancelled.
         */
        Mono<RegisteredServer> start(SharedServer server, Function<ToolListing, Mono<RegisteredServer>> then);
    }

    /** Keeps its own copy. */
    public OwnPods {
        usualDomains = List.copyOf(usualDomains);
    }
}
