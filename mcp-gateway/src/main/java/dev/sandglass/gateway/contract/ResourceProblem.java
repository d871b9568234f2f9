package dev.sandglass.gateway.contract;

import dev.sandglass.api.ForeignText;

/** Why a resource could not be read though its URI keeps the rules. The message is written for the caller. */
public final class ResourceProblem extends RuntimeException {

    private static final int MAX_CHARS = 32 * 1024;

    private final Kind kind;

    private ResourceProblem(Kind kind, String message) {
        super(ForeignText.line(message, MAX_CHARS), null, false, false);
        this.kind = kind;
    }

    /** What the protocol distinguishes. */
    public enum Kind {
        /** There is none, or the caller may not see it: the same words for both. */
        UNKNOWN,
        /** It may be there, and cannot be read now. */
        UNAVAILABLE
    }

    /** Says what is not there. */
    public static ResourceProblem unknown(String message) {
        return new ResourceProblem(Kind.UNKNOWN, message);
    }

    /** Says what prevents the reading now. */
    public static ResourceProblem unavailable(String message) {
        return new ResourceProblem(Kind.UNAVAILABLE, message);
    }

    /** Which of the protocol's errors it is. */
    public Kind kind() {
        return kind;
    }

    /** The message, never null. */
    public String text() {
        return String.valueOf(getMessage());
    }
}
