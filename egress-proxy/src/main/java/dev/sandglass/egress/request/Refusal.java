package dev.sandglass.egress.request;

/** A request that is not understood, or not accepted for its form; the message is for its sender. */
public final class Refusal extends Exception {

    private static final long serialVersionUID = 1;

    /** Refuses with a sentence that says what is wrong. */
    public Refusal(String message) {
        super(message, null, false, false);
    }

    /** The sentence. */
    public String sentence() {
        return String.valueOf(getMessage());
    }
}
