package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.bound.ByteBudget;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.tool.Tool;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import reactor.netty.http.server.HttpServerRoutes;

/** The door of this room: the route of the endpoint in Reactor Netty's server (ADR-0004). */
public final class McpRoute implements UnaryOperator<HttpServerRoutes> {

    /** Where the endpoint is. */
    public static final String PATH = "/mcp";

    /**
     * Who may enter.
     *
     * @param callers known by their credentials
     * @param access to whose tenants
     * @param allowedOrigins of web pages that may call
     */
    public record Entrants(Callers callers, TenantAccess access, Set<String> allowedOrigins) {}

    private final Entrance entrance;
    private final ByteBudget bodies;

    private McpRoute(Entrance entrance, ByteBudget bodies) {
        this.entrance = entrance;
        this.bodies = bodies;
    }

    /**
     * Serves the tools.
     *
     * @param version of this gateway, told to clients
     * @param others to which cancellations are passed on
     */
    public static McpRoute of(
            List<Tool> tools,
            Entrants entrants,
            McpSettings settings,
            String version,
            OtherReplicas others,
            MeterRegistry meters) {
        var audit = new AuditLog(entrants.access(), meters, System::nanoTime);
        var dispatcher = new McpDispatcher(tools, version, audit);
        var endpoint = new McpEndpoint(dispatcher, settings, others);
        return new McpRoute(new Entrance(entrants, endpoint, meters), endpoint.bodies());
    }

    /** What the bodies of requests under way hold. */
    public ByteBudget bodies() {
        return bodies;
    }

    @Override
    public HttpServerRoutes apply(HttpServerRoutes routes) {
        return routes.route(request -> PATH.equals("/" + request.path()), entrance::serve);
    }
}
