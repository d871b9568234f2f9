package dev.sandglass.gateway.action;

/** What a use case does if its sandbox is not there. */
public sealed interface Absent {

    /** It errors with {@link dev.sandglass.gateway.sandbox.SandboxProblem.NotFound}. */
    record Refused() implements Absent {}

    /**
     * It makes the sandbox, with the installation's defaults.
     *
     * @param by name of the caller
     */
    record Created(String by) implements Absent {}
}
