package dev.sandglass.gateway.action;

import dev.sandglass.gateway.sandbox.SandboxConfig;

/** What a use case does if its sandbox is not there. */
public sealed interface Absent {

    /** It errors with {@link dev.sandglass.gateway.sandbox.SandboxProblem.NotFound}. */
    record Refused() implements Absent {}

    /**
     * It makes the sandbox.
     *
     * @param by name of the caller
     * @param config of the new sandbox; what it leaves out is the installation's default
     */
    record Created(String by, SandboxConfig config) implements Absent {}
}
