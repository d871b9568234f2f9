package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.tool.Tool;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

/** The door of this room: the routes of the endpoint. */
public final class McpRoutes {

    private McpRoutes() {}

    /**
     * Serves the tools at {@code /mcp}.
     *
     * @param version of this gateway, told to clients
     */
    public static RouterFunction<ServerResponse> of(
            List<Tool> tools, McpSettings settings, String version, MeterRegistry meters) {
        var dispatcher = new McpDispatcher(tools, version, new AuditLog(meters, System::nanoTime));
        var endpoint = new McpEndpoint(dispatcher, settings);
        return RouterFunctions.route()
                .POST("/mcp", endpoint::post)
                .route(RequestPredicates.path("/mcp"), endpoint::methodNotAllowed)
                .build();
    }
}
