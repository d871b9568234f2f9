package dev.sandglass.gateway.tool;

/** An argument breaks a rule. The message names the field and the rule and says what to do; it is meant for the caller. */
public final class InvalidArgument extends RuntimeException {

    InvalidArgument(String message) {
        super(HalfCharacters.removed(message), null, false, false);
    }

    /** A setting of another system. */
    static InvalidArgument foreign(String field, String instead) {
        return new InvalidArgument("'%s' is no setting of Sandglass; leave it out: %s".formatted(field, instead));
    }

    /** The message, never null. */
    public String text() {
        return String.valueOf(getMessage());
    }
}
