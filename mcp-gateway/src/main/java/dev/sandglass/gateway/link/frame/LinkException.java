package dev.sandglass.gateway.link.frame;

import dev.sandglass.api.ForeignText;
import java.util.concurrent.CompletionException;

/** Why a verb was not served. */
public final class LinkException extends RuntimeException {

    /** Longer than a path, which a refusal may quote. */
    private static final int MAX_CHARS = 8 * 1024;

    /** The kinds of failure that callers tell apart. */
    public enum Kind {
        /** No connection, or no answer, in the given time; what must not be done twice was not begun. */
        UNREACHABLE,
        /** It was sent, and no answer came: whether it was done, or will be, is not known. */
        UNANSWERED,
        /** The supervisor was restarted after the verb was sent: what became of it cannot be known. */
        RESTARTED,
        /** The supervisor refused it; {@link #code} says why. */
        REFUSED,
        /** The two sides have no protocol version in common, or the peer is another sandbox. */
        INCOMPATIBLE,
        /** A bound of this process was reached. */
        OVERLOADED,
        /** The client was closed. */
        CLOSED
    }

    private final Kind kind;
    private final String code;

    public LinkException(Kind kind, String code, String message) {
        // Expected, and made on the link's thread: no stack trace.
        super(ForeignText.line(message, MAX_CHARS), null, false, false);
        this.kind = kind;
        this.code = code;
    }

    public LinkException(Kind kind, String message) {
        this(kind, "", message);
    }

    /** The same of a verb that may have been done, or may be yet, unless it is known what became of that one. */
    public LinkException afterSending() {
        return switch (kind) {
            case UNREACHABLE, INCOMPATIBLE, OVERLOADED, CLOSED -> new LinkException(Kind.UNANSWERED, text());
            case UNANSWERED, RESTARTED, REFUSED -> this;
        };
    }

    /** Which kind of failure. */
    public Kind kind() {
        return kind;
    }

    /** The supervisor's code for a refusal, e.g. {@code unknown_execution}; else empty. */
    public String code() {
        return code;
    }

    /** Whether the supervisor refused with that code. */
    public boolean isRefusal(String expected) {
        return kind == Kind.REFUSED && code.equals(expected);
    }

    /** The message, never null. */
    public String text() {
        return String.valueOf(getMessage());
    }

    /** What a future of this room failed with: itself, or freed from the wrapping of {@code CompletableFuture}. */
    public static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
