package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.LinkException;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import org.jspecify.annotations.Nullable;

/** What a failure of the link means to a caller: an execution that ended, or a problem with the sandbox. Pure. */
final class Failures {

    private Failures() {}

    /** How the execution stands, if the failure says anything about that. */
    static @Nullable Verdict verdict(RunningSandbox sandbox, Throwable failure) {
        if (!(LinkException.unwrap(failure) instanceof LinkException why)) {
            return null;
        }
        return switch (why.kind()) {
            case RESTARTED -> Verdict.restarted();
            case REFUSED -> refusal(sandbox, why);
            case UNREACHABLE, INCOMPATIBLE, OVERLOADED, CLOSED -> null;
        };
    }

    /** The problem, in words that a model can act on. */
    static Throwable problem(RunningSandbox sandbox, Throwable failure) {
        if (!(LinkException.unwrap(failure) instanceof LinkException why)) {
            return failure;
        }
        return switch (why.kind()) {
            case REFUSED -> new SandboxProblem.Refused("The sandbox refused this: " + why.text() + ".");
            case UNREACHABLE, INCOMPATIBLE, OVERLOADED, CLOSED, RESTARTED ->
                new SandboxProblem.Unreachable(sandbox.ref(), why.text(), why);
        };
    }

    private static @Nullable Verdict refusal(RunningSandbox sandbox, LinkException why) {
        return switch (why.code()) {
            case "rejected" ->
                Verdict.of(
                        ExecutionStatus.REJECTED,
                        "Not started: " + why.text() + ". Wait for running executions to end, or interrupt one."
                                + " sandbox_list with 'sandbox' tells their ids, which sandbox_interrupt takes.");
            case "env_error" -> Verdict.of(ExecutionStatus.ENV_ERROR, "Not started: " + why.text() + ".");
            case "unknown_execution" -> Verdict.forgotten(sandbox.restarts());
            default -> null;
        };
    }
}
