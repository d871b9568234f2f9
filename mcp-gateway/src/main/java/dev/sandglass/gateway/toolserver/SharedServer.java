package dev.sandglass.gateway.toolserver;

import dev.sandglass.api.toolserver.ToolRules;
import java.time.Duration;
import java.util.Optional;

/**
 * An MCP server that sandboxes of its namespace share. It runs in the pod of a sandbox of its own, the child.
 *
 * @param identity which resource describes it
 * @param registration how it is started in the child's pod, or reached from there; its name is the one that code knows
 * @param rules which of its tools code may call
 * @param bounds of calls
 * @param trouble why it has no child, a clause; empty if nothing is wrong
 * @param ofAgent whether an agent registered it, for one sandbox; else an administrator did, for many
 */
public record SharedServer(
        Identity identity,
        Registration registration,
        ToolRules rules,
        Bounds bounds,
        Optional<String> trouble,
        boolean ofAgent) {

    /** One of an administrator. */
    public SharedServer(
            Identity identity, Registration registration, ToolRules rules, Bounds bounds, Optional<String> trouble) {
        this(identity, registration, rules, bounds, trouble, false);
    }

    /**
     * Which resource describes a server.
     *
     * @param namespace in which it is
     * @param resource its name
     * @param uid its UID
     * @param generation of its spec
     */
    public record Identity(String namespace, String resource, String uid, long generation) {

        /** A word for this version of its spec: 64 characters at most. */
        public String revision() {
            return uid + "." + Long.toString(generation, Character.MAX_RADIX);
        }
    }

    /**
     * Bounds of the calls of a server's tools.
     *
     * @param callTimeout how long one may take; empty for as long as its caller waits
     * @param maxResultBytes of one result
     * @param concurrency calls at a time
     * @param callsPerExecution calls of one execution
     */
    public record Bounds(Optional<Duration> callTimeout, int maxResultBytes, int concurrency, int callsPerExecution) {

        /** What a supervisor takes of one result. */
        public static final int MOST_RESULT_BYTES = 4 * 1024 * 1024;

        /** What holds for a server that says nothing. */
        public static final Bounds DEFAULT = new Bounds(Optional.empty(), MOST_RESULT_BYTES, 16, 1000);
    }

    /** Under which code imports its tools. */
    public String name() {
        return registration.name();
    }

    /** How it is spoken to, in one word. */
    public String kind() {
        return switch (registration) {
            case Registration.Command _ -> "stdio";
            case Registration.Url _ -> "http";
        };
    }
}
