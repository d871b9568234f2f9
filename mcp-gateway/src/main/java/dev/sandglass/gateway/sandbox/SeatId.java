package dev.sandglass.gateway.sandbox;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The id of a seat: a pod that was ready before a sandbox claimed it, and whose keys derive from this id in place of the
 * sandbox's UID.
 *
 * @param value a UUID in lower case, as the operator chooses it
 */
public record SeatId(String value) {

    private static final Pattern FORM = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    /** Refuses any other text with {@link IllegalArgumentException}. */
    public SeatId {
        if (!FORM.matcher(value).matches()) {
            throw new IllegalArgumentException("Not the id of a seat");
        }
    }

    /** The seat of that id; empty if the text is no such id. */
    public static Optional<SeatId> of(String text) {
        return FORM.matcher(text).matches() ? Optional.of(new SeatId(text)) : Optional.empty();
    }
}
