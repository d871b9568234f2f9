package dev.sandglass.gateway.contract;

import dev.sandglass.api.ForeignText;

/** There is no resource of that URI, or the caller may not see it: the same words for both. */
public final class UnknownResource extends RuntimeException {

    private static final int MAX_CHARS = 8 * 1024;

    /** Says what is not there, and what to do. */
    public UnknownResource(String message) {
        super(ForeignText.line(message, MAX_CHARS), null, false, false);
    }

    /** The message, never null. */
    public String text() {
        return String.valueOf(getMessage());
    }
}
