package dev.sandglass.gateway.port.message;

import dev.sandglass.gateway.sandbox.SandboxProblem;
import io.netty.handler.codec.http.HttpResponseStatus;

/** Why a request does not reach a sandbox's port; the text says what to do and is meant for the caller. */
public final class PortProblem extends RuntimeException {

    private static final String START = " Call sandbox_start with this name first.";
    private static final String AGAIN = " Try again; if it stays so, call sandbox_stop and sandbox_start.";

    private final HttpResponseStatus status;
    private final String challenge;

    private PortProblem(HttpResponseStatus status, String text, String challenge) {
        // Expected outcomes, made often: no stack trace, nothing suppressed.
        super(text, null, false, false);
        this.status = status;
        this.challenge = challenge;
    }

    public PortProblem(HttpResponseStatus status, String text) {
        this(status, text, "");
    }

    public static PortProblem unauthorized(String challenge, String text) {
        return new PortProblem(HttpResponseStatus.UNAUTHORIZED, text, challenge);
    }

    /** The same words whatever is wrong with it, so that nothing is told about sandboxes to those without a link. */
    public static PortProblem badLink() {
        return new PortProblem(
                HttpResponseStatus.FORBIDDEN,
                "This link is not valid, or not any more. Call sandbox_start for a new one.");
    }

    /** No contract is known here, so our own tools are named. */
    public static PortProblem of(SandboxProblem problem) {
        return switch (problem) {
            case SandboxProblem.NotFound missing ->
                new PortProblem(HttpResponseStatus.NOT_FOUND, missing.fact() + START);
            case SandboxProblem.Refused refused -> new PortProblem(HttpResponseStatus.NOT_FOUND, refused.fact());
            case SandboxProblem.NotRunning stopped -> unavailable(stopped.fact() + START);
            case SandboxProblem.Asleep asleep -> unavailable(asleep.fact() + START);
            case SandboxProblem.StartFailed failed -> unavailable(failed.fact());
            case SandboxProblem.Unavailable away -> unavailable(away.fact());
            case SandboxProblem.Unreachable silent ->
                new PortProblem(HttpResponseStatus.BAD_GATEWAY, silent.fact() + AGAIN);
        };
    }

    /** The fault of the sandbox's server. */
    public static PortProblem badGateway(String text) {
        return new PortProblem(HttpResponseStatus.BAD_GATEWAY, text);
    }

    public static PortProblem unavailable(String text) {
        return new PortProblem(HttpResponseStatus.SERVICE_UNAVAILABLE, text);
    }

    public HttpResponseStatus status() {
        return status;
    }

    /** For {@code WWW-Authenticate}; empty for none. */
    public String challenge() {
        return challenge;
    }

    public String text() {
        return String.valueOf(getMessage());
    }
}
