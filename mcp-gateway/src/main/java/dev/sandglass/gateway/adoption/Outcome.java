package dev.sandglass.gateway.adoption;

import dev.sandglass.gateway.execution.Adopted;
import java.util.Locale;

/** What came of looking at a sandbox. */
enum Outcome {
    /** Something runs there, and the link is kept. */
    ADOPTED,
    /** This replica kept its link already. */
    KEPT,
    /** It may have been busy, but nothing runs there. */
    IDLE,
    /** Its Lease says that nothing can run there: it was not asked. */
    NOT_BUSY,
    /** It did not answer. */
    UNREACHABLE,
    /** This replica keeps as many links as it may. */
    TOO_MANY,
    /** The API server did not tell its Lease. */
    FAILED;

    static Outcome of(Adopted adopted) {
        return switch (adopted) {
            case ADOPTED -> ADOPTED;
            case KEPT_BEFORE -> KEPT;
            case IDLE -> IDLE;
            case UNREACHABLE -> UNREACHABLE;
            case TOO_MANY -> TOO_MANY;
        };
    }

    /** As metrics and logs call it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
