package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import org.jspecify.annotations.Nullable;

/** What a failure of the link means to a caller: an execution that ended, or a problem with the sandbox. Pure. */
public final class Failures {

    // It never came to this sandbox: only a supervisor that remembers all that did says so.
    private static final String NEVER_CAME = "execution_never_came";
    private static final String UNKNOWN = "unknown_execution";
    private static final String NETWORK_OPEN = "network_open";
    private static final String NO_SERVER = "no_server";

    private Failures() {}

    /** How the execution stands, if the failure says anything about that. */
    static @Nullable Verdict verdict(RunningSandbox sandbox, Throwable failure) {
        if (!(LinkException.unwrap(failure) instanceof LinkException why)) {
            return null;
        }
        return switch (why.kind()) {
            case RESTARTED -> Verdict.restarted();
            case REFUSED -> refusal(sandbox, why);
            case UNANSWERED -> Verdict.unacknowledged(why.text());
            case UNREACHABLE, INCOMPATIBLE, OVERLOADED, CLOSED -> null;
        };
    }

    /** The problem, in words that a model can act on. */
    public static Throwable problem(RunningSandbox sandbox, Throwable failure) {
        if (!(LinkException.unwrap(failure) instanceof LinkException why)) {
            return failure;
        }
        return switch (why.kind()) {
            case REFUSED -> refused(why);
            case UNANSWERED -> SandboxProblem.Unreachable.unanswered(sandbox.ref(), why.text(), why);
            // Whoever is told that the sandbox does not answer stops it in the end, and its variables are lost.
            case OVERLOADED ->
                new SandboxProblem.Refused(
                        ("%s: that is a bound of the gateway. Nothing is wrong with sandbox '%s', leave"
                                        + " it as it is; try again when other calls were answered.")
                                .formatted(why.text(), sandbox.ref().givenName()));
            case UNREACHABLE, INCOMPATIBLE, CLOSED, RESTARTED ->
                new SandboxProblem.Unreachable(sandbox.ref(), why.text(), why);
        };
    }

    private static SandboxProblem.Refused refused(LinkException why) {
        String fact = "The sandbox refused this: " + why.text() + ".";
        return why.isRefusal(NO_SERVER)
                ? new ServerRefused(ServerRefused.Cause.NO_SERVER, fact, NextStep.Plain.LIST_SERVERS)
                : new SandboxProblem.Refused(fact, next(why));
    }

    /** Whether the supervisor does not know, or not any more, what it was asked about. */
    static boolean isUnknown(Throwable failure) {
        return LinkException.unwrap(failure) instanceof LinkException why
                && (why.isRefusal(UNKNOWN) || why.isRefusal(NEVER_CAME));
    }

    private static @Nullable NextStep next(LinkException why) {
        return why.isRefusal(NETWORK_OPEN) ? NextStep.Plain.STOP_AND_START : null;
    }

    private static @Nullable Verdict refusal(RunningSandbox sandbox, LinkException why) {
        return switch (why.code()) {
            case "rejected" ->
                Verdict.of(
                        ExecutionStatus.REJECTED, "Not started: " + why.text() + ".", NextStep.Plain.END_AN_EXECUTION);
            case "sessions_full" ->
                Verdict.of(ExecutionStatus.REJECTED, "Not started: " + why.text() + ".", NextStep.Plain.END_A_SESSION);
            // The supervisor says what it reached, and who can mend that.
            case NETWORK_OPEN -> Verdict.of(ExecutionStatus.REJECTED, "Not started: " + why.text() + ".", next(why));
            case "env_error" -> Verdict.of(ExecutionStatus.ENV_ERROR, "Not started: " + why.text() + ".", null);
            case NEVER_CAME -> Verdict.neverBegan();
            case UNKNOWN -> Verdict.forgotten(sandbox.restarts());
            default -> null;
        };
    }
}
