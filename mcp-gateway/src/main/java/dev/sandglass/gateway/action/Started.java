package dev.sandglass.gateway.action;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxState;
import java.util.Optional;

/** What a start came to while its caller waited. */
public sealed interface Started {

    /** A kernel answers. What of its edits awaits a restart, and which hosts do not count, the sandbox itself says. */
    record Running(RunningSandbox sandbox) implements Started {}

    /** Its pod is Ready, and no kernel answered. */
    record Unverified(RunningSandbox sandbox, SandboxProblem problem) implements Started {}

    /**
     * It goes on, beyond the caller's patience.
     *
     * @param state of the sandbox now; empty if the cache does not have it yet
     */
    record StillStarting(Optional<SandboxState> state) implements Started {}

    /**
     * Its pod was Ready and ended before a kernel answered.
     *
     * @param why a clause
     */
    record Ended(String why) implements Started {}

    /**
     * It cannot be started.
     *
     * @param configKept whether what was asked for is stored all the same, and is the cause
     */
    record Failed(SandboxProblem problem, boolean configKept) implements Started {}
}
