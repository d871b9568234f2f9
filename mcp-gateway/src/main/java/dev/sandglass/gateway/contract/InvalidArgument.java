package dev.sandglass.gateway.contract;

import dev.sandglass.api.ForeignText;

/** An argument breaks a rule. The message names the field and the rule and says what to do; it is meant for the caller. */
public final class InvalidArgument extends RuntimeException {

    private static final int MAX_CHARS = 8 * 1024;

    public InvalidArgument(String message) {
        super(ForeignText.line(message, MAX_CHARS), null, false, false);
    }

    /** A setting of another system. */
    public static InvalidArgument foreign(String field, String instead) {
        return new InvalidArgument("'%s' is no setting of Sandglass; leave it out: %s".formatted(field, instead));
    }

    /** The message, never null. */
    public String text() {
        return String.valueOf(getMessage());
    }
}
