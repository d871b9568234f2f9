package dev.sandglass.gateway.toolcall;

import dev.sandglass.gateway.toolserver.SharedServerState;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What the code in a sandbox is told of the servers that it shares, as JSON that fits into an answer. Pure. */
final class ServerListJson {

    /** Most bytes of the tools of all servers. */
    static final int MOST_BYTES = 128 * 1024;

    private static final int AROUND_TOOL = 32;

    private ServerListJson() {}

    static ObjectNode of(List<SharedServerState> states) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode servers = json.putArray("servers");
        int share = MOST_BYTES / Math.max(1, states.size());
        for (SharedServerState state : states) {
            ObjectNode server = servers.addObject()
                    .put("name", state.name())
                    .put("state", state.state().word());
            if (!state.detail().isEmpty()) {
                server.put("detail", state.detail());
            }
            state.tools().ifPresent(tools -> add(server, tools, share));
        }
        return json;
    }

    private static void add(ObjectNode server, SharedServerState.Tools tools, int share) {
        ArrayNode known = server.putArray("tools");
        int bytes = 0;
        for (SharedServerState.Tool tool : tools.known()) {
            bytes += AROUND_TOOL + length(tool.name()) + length(tool.description());
            if (bytes > share) {
                break;
            }
            known.addObject().put("name", tool.name()).put("description", tool.description());
        }
        server.put("left_out", tools.leftOut() + tools.known().size() - known.size());
    }

    /** Each may be written with a backslash. */
    private static int length(String text) {
        return 2 * text.getBytes(StandardCharsets.UTF_8).length;
    }
}
