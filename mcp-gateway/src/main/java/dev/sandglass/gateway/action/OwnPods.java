package dev.sandglass.gateway.action;

import dev.sandglass.gateway.toolserver.AgentServerSettings;
import dev.sandglass.gateway.toolserver.AgentServers;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServerState;
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
 * @param start starts a server as its first call would, and lists its tools
 */
public record OwnPods(
        AgentServerSettings settings,
        List<String> usualDomains,
        AgentServers resources,
        SharedServers known,
        Function<SharedServer, Mono<SharedServerState.Tools>> start) {

    /** For installations in which agents register none. */
    public static final OwnPods NONE =
            new OwnPods(AgentServerSettings.NONE, List.of(), AgentServers.NONE, SharedServers.NONE, _ -> Mono.never());

    /** Keeps its own copy. */
    public OwnPods {
        usualDomains = List.copyOf(usualDomains);
    }
}
