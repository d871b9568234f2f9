package dev.sandglass.egress.dns;

/** How an answer ends, in DNS's own numbers. */
public enum Code {
    /** There is such a name, though maybe nothing of the type that was asked for. */
    NO_ERROR(0),
    /** The message is not a question as this server takes it. */
    FORMAT_ERROR(1),
    /** The server cannot say now. */
    SERVER_FAILURE(2),
    /** There is no such name, for any client. */
    NO_SUCH_NAME(3),
    /** The message is something else than a question. */
    NOT_IMPLEMENTED(4),
    /** The server does not answer this client. */
    REFUSED(5);

    private final int number;

    Code(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }
}
