package dev.sandglass.gateway.toolserver;

import java.util.List;

/**
 * An MCP server that runs, and for whose tools there are functions.
 *
 * @param name as it was registered
 * @param info what it says of itself
 * @param tools in its order
 * @param leftOut how many more tools there are than {@code tools} has
 * @param notes on the functions, as of tools for which there are none: untrusted, bounded, each on one line
 */
public record RegisteredServer(String name, Info info, List<ServerTool> tools, int leftOut, List<String> notes) {

    /** Keeps its own copies. */
    public RegisteredServer {
        tools = List.copyOf(tools);
        notes = List.copyOf(notes);
    }

    /** Where the functions of a server are. */
    public static String folder(String name) {
        return "/workspace/mcptools/" + name;
    }

    /**
     * What a server says of itself: untrusted, bounded, each on one line, and empty if it says nothing.
     *
     * @param name its own name
     * @param version its version
     * @param protocolVersion the revision of MCP that it speaks
     */
    public record Info(String name, String version, String protocolVersion) {}
}
