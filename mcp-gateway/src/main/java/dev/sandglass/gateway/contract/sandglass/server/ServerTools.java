package dev.sandglass.gateway.contract.sandglass.server;

import dev.sandglass.gateway.action.ToolServerActions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolSettings;
import java.util.List;

/** The tools of this package, in the order in which clients see them. */
public final class ServerTools {

    private ServerTools() {}

    /** All of them, over these use cases. */
    public static List<Tool> all(TenantAccess access, ToolServerActions servers, ToolSettings settings) {
        return List.of(
                new RegisterServerTool(access, servers, settings),
                new ListServersTool(access, servers, settings),
                new RemoveServerTool(access, servers));
    }
}
