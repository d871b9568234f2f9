package dev.sandglass.gateway.toolcall;

import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Why a call has no result; code is told the word and a text. Pure. */
enum CallProblem {
    /** There is no such server for this sandbox. */
    NO_SERVER,
    /** The server has no such tool. */
    NO_TOOL,
    /** The rules of the server forbid it. */
    NOT_ALLOWED,
    /** A bound of calls is reached. */
    TOO_MANY,
    /** There was no answer in time. */
    TIMEOUT,
    /** The result is larger than it may be. */
    TOO_LARGE,
    /** The server could not be started. */
    NOT_RUNNING,
    /** Anything else. */
    FAILED;

    /** As code and audit lines have it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The failure of a call; the text is made fit to stand in our own words. */
    LinkException because(String text) {
        return new LinkException(LinkException.Kind.REFUSED, word(), text);
    }

    static Optional<CallProblem> of(String word) {
        return Arrays.stream(values())
                .filter(problem -> problem.word().equals(word))
                .findFirst();
    }

    /** Whether a call fails for want of rights or room, before anything is asked of a server. */
    static boolean isRefusal(String word) {
        return of(word).filter(problem -> problem == NO_SERVER || problem == NOT_ALLOWED || problem == TOO_MANY)
                .isPresent();
    }

    /** What a failed start means to the caller. */
    static Throwable ofStart(String server, Throwable failure) {
        Throwable why = LinkException.unwrap(failure);
        if (why instanceof SandboxProblem.NotFound) {
            return NOT_RUNNING.because("MCP server '%s' is not running: it has no pod yet".formatted(server));
        }
        if (why instanceof SandboxProblem problem) {
            return NOT_RUNNING.because("MCP server '%s' is not running: %s".formatted(server, problem.fact()));
        }
        if (!(why instanceof LinkException known)) {
            return why;
        }
        if (of(known.code()).isPresent()) {
            return known;
        }
        return switch (known.code()) {
            case "mcp_start_failed", "mcp_timeout" -> NOT_RUNNING.because(known.text());
            case "unknown_verb" ->
                FAILED.because("MCP server '%s' cannot be started: the image of its pod is older than this request"
                        .formatted(server));
            default -> NOT_RUNNING.because("MCP server '%s' is not running: %s".formatted(server, known.text()));
        };
    }

    /** What a failed start means to who registered the server. */
    static SandboxProblem ofRegistration(LinkException why) {
        return new SandboxProblem.ServerRefused(
                SandboxProblem.ServerRefused.Cause.START_FAILED, "Not registered: " + why.text() + ".", null);
    }

    /** What a failed question to the server's pod means to the caller. */
    static Throwable ofQuestion(String server, Throwable failure) {
        Throwable why = LinkException.unwrap(failure);
        if (!(why instanceof LinkException known)) {
            return why;
        }
        if (known.isRefusal(NO_SERVER.word())) {
            return NOT_RUNNING.because("MCP server '%s' is not running: its pod does not know it".formatted(server));
        }
        if (of(known.code()).isPresent()) {
            return known;
        }
        return switch (known.kind()) {
            case REFUSED -> FAILED.because(known.text());
            case RESTARTED, UNANSWERED ->
                FAILED.because("MCP server '%s' did not answer: %s; whether the call was carried out is not known"
                        .formatted(server, known.text()));
            case UNREACHABLE, INCOMPATIBLE, OVERLOADED, CLOSED ->
                NOT_RUNNING.because("the pod of MCP server '%s' does not answer: %s".formatted(server, known.text()));
        };
    }
}
