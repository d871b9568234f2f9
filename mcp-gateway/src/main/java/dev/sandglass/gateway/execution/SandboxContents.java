package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.util.List;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/**
 * What there is in a sandbox.
 *
 * @param sessions its kernels
 * @param executions the newest ones, newest first
 */
public record SandboxContents(List<Session> sessions, List<KnownExecution> executions) {

    /** So many executions are told of at most; a supervisor keeps as many that are done. */
    public static final int MOST_EXECUTIONS = 64;

    // No supervisor has more kernels (the chart's sandbox.maxSessions).
    private static final int MOST_SESSIONS = 64;

    /** Keeps its own copies. */
    public SandboxContents {
        sessions = List.copyOf(sessions);
        executions = List.copyOf(executions);
    }

    /** Untrusted: bounded, and without what is none. The supervisor tells the oldest first. */
    static SandboxContents parse(RunningSandbox sandbox, JsonNode json) {
        JsonNode executions = json.path("executions");
        return new SandboxContents(
                StreamSupport.stream(json.path("kernels").spliterator(), false)
                        .limit(MOST_SESSIONS)
                        .map(Session::parse)
                        .toList(),
                StreamSupport.stream(executions.spliterator(), false)
                        .skip(Math.max(0, executions.size() - MOST_EXECUTIONS))
                        .flatMap(known -> KnownExecution.parse(sandbox, known).stream())
                        .toList()
                        .reversed());
    }
}
