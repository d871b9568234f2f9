package dev.sandglass.gateway.toolserver;

import java.util.List;

/**
 * A registered MCP server, as its sandbox tells of it.
 *
 * @param name as it was registered
 * @param state whether it can be called
 * @param origin its program, or the address without what may hold a key: untrusted, bounded, on one line
 * @param tools in its order
 * @param leftOut how many more tools there are than {@code tools} has
 */
public record KnownServer(String name, State state, String origin, List<ServerTool> tools, int leftOut) {

    /** Keeps its own copy. */
    public KnownServer {
        tools = List.copyOf(tools);
    }

    /** Whether a server can be called. */
    public enum State {
        /** Its start is under way. */
        STARTING,
        /** It answers. */
        RUNNING,
        /** It ended by itself. */
        ENDED,
        /** The sandbox tells something that is not known here. */
        UNKNOWN;

        /** As answers have it. */
        public String word() {
            return switch (this) {
                case STARTING -> "starting";
                case RUNNING -> "running";
                case ENDED -> "ended";
                case UNKNOWN -> "unknown";
            };
        }

        static State of(String word) {
            return switch (word) {
                case "starting" -> STARTING;
                case "running" -> RUNNING;
                case "ended" -> ENDED;
                default -> UNKNOWN;
            };
        }
    }
}
