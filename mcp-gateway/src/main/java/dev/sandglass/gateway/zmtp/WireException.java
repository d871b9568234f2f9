package dev.sandglass.gateway.zmtp;

/** A far side that does not keep to the protocol, or is not who it should be. The text is a clause about it. */
final class WireException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    WireException(String text) {
        super(text, null, false, false);
    }

    /** The clause. */
    String text() {
        return String.valueOf(getMessage());
    }
}
