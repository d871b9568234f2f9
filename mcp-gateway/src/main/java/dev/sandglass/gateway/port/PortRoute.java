package dev.sandglass.gateway.port;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Sessions;
import dev.sandglass.gateway.port.message.PortPath;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.websocket.FrameBudget;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.InstantSource;
import java.util.function.UnaryOperator;
import reactor.netty.http.server.HttpServerRoutes;
import reactor.netty.resources.LoopResources;

/** The door of this room: the routes of sandboxes' ports in Reactor Netty's server. */
public final class PortRoute implements UnaryOperator<HttpServerRoutes> {

    private final PortEntrance entrance;

    private PortRoute(PortEntrance entrance) {
        this.entrance = entrance;
    }

    /**
     * What this room needs of the others.
     *
     * @param callers who calls
     * @param access which tenants each may use
     * @param sandboxes where they run
     * @param sessions of the sandboxes, which prove that an address is theirs
     * @param secret of the installation, for links
     */
    public record Surroundings(
            Callers callers, TenantAccess access, Sandboxes sandboxes, Sessions sessions, LinkSecret secret) {}

    /**
     * Serves the ports of all sandboxes.
     *
     * @param loops on which the connections to sandboxes live
     */
    public static PortRoute of(
            Surroundings around,
            PortSettings settings,
            LoopResources loops,
            MeterRegistry meters,
            InstantSource clock) {
        var gate = new PortGate(
                new PortGate.Who(around.callers(), around.access()),
                around.sandboxes(),
                around.sessions(),
                around.secret(),
                clock);
        return new PortRoute(new PortEntrance(
                gate, settings, new PortProxy(loops, settings), new PortLog(meters, System::nanoTime)));
    }

    /** What WebSockets' frames under way hold. */
    FrameBudget frames() {
        return entrance.frames();
    }

    /** Whether that target is a port's, or would be if it were well formed. */
    public static boolean isPort(String target) {
        return target.startsWith(PortPath.ROOT);
    }

    @Override
    public HttpServerRoutes apply(HttpServerRoutes routes) {
        return routes.route(request -> isPort(request.uri()), entrance::serve);
    }
}
