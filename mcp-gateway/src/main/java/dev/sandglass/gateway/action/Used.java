package dev.sandglass.gateway.action;

import dev.sandglass.gateway.sandbox.SandboxProblem;
import org.jspecify.annotations.Nullable;

/**
 * What came of a short use of a sandbox. Errors of a sandbox that was not resumed for it come as {@link SandboxProblem}.
 *
 * @param <T> what it was used for
 */
public sealed interface Used<T> {

    /**
     * It was done.
     *
     * @param resumed null if the sandbox was running
     */
    record Done<T>(T value, @Nullable Resumed resumed) implements Used<T> {}

    /** It was refused, after the sandbox had to be resumed for it. */
    record Refused<T>(SandboxProblem.Refused problem, Resumed resumed) implements Used<T> {}
}
