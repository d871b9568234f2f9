package dev.sandglass.gateway.toolserver;

import java.util.List;
import java.util.Optional;

/**
 * A server that a sandbox shares with others, and how it stands.
 *
 * @param name as code knows it
 * @param state whether it can be called
 * @param detail why it cannot, or what it waits for: one line; empty if there is nothing to say
 * @param tools the first of those that code may call; empty if this replica has not heard of them yet
 * @param ofAgent whether it was registered for this sandbox alone
 */
public record SharedServerState(String name, State state, String detail, Optional<Tools> tools, boolean ofAgent) {

    /** One that an administrator shares. */
    public SharedServerState(String name, State state, String detail, Optional<Tools> tools) {
        this(name, state, detail, tools, false);
    }

    /** Whether a server can be called. */
    public enum State {
        /** Its pod runs. */
        RUNNING,
        /** Its pod is being started. */
        STARTING,
        /** Its pod sleeps; a call starts it. */
        IDLE,
        /** A call would fail. */
        FAILED;

        /** As answers have it. */
        public String word() {
            return switch (this) {
                case RUNNING -> "running";
                case STARTING -> "starting";
                case IDLE -> "idle";
                case FAILED -> "failed";
            };
        }
    }

    /**
     * Tools that code may call.
     *
     * @param known the first of them
     * @param leftOut how many more there are
     */
    public record Tools(List<Tool> known, int leftOut) {

        /** Most of them that are kept of one server. */
        public static final int MOST = 64;

        /** Most characters of a name, before the mark of a cut. */
        public static final int MAX_NAME = 128;

        /** Most characters of what a tool is said to do, before the mark of a cut. */
        public static final int MAX_DESCRIPTION = 120;

        /** Keeps its own copy. */
        public Tools {
            known = List.copyOf(known);
        }
    }

    /**
     * A tool.
     *
     * @param name as the server calls it: untrusted, bounded, on one line
     * @param description the beginning of what the server says of it: the same; may be empty
     */
    public record Tool(String name, String description) {}
}
