package dev.sandglass.gateway.action;

import dev.sandglass.gateway.egress.UnreachedHost;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.sandbox.SandboxState;
import java.util.List;
import java.util.Optional;

/** What reading on an execution found. */
public sealed interface Reading {

    /** A page of its output. */
    record Page(Run run) implements Reading {}

    /**
     * The pod in which it ran is gone, and its output with it.
     *
     * @param sandbox its sandbox now; empty if that is gone too
     * @param unreached targets that the sandbox did not reach during it, oldest first
     */
    record PodGone(ExecutionId id, Optional<SandboxState> sandbox, List<UnreachedHost> unreached) implements Reading {

        /** Keeps its own copy of the list. */
        public PodGone {
            unreached = List.copyOf(unreached);
        }
    }
}
