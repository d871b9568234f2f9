package dev.sandglass.api;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Durations as Kubernetes users write them: hours, minutes and seconds, in that order, each at most once. */
public final class Durations {

    /** Longest text. */
    public static final int MAX_LENGTH = 24;

    static final String PATTERN = "^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$";

    private static final Pattern FORM = Pattern.compile(PATTERN);

    private Durations() {}

    /**
     * Reads a duration.
     *
     * @throws IllegalArgumentException repeating the beginning of the text and naming the form
     */
    public static Duration parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (text.isEmpty() || !matcher.matches()) {
            throw new IllegalArgumentException("'" + shortened(text) + "' is not a duration like 30m, 8h or 1h30m");
        }
        return Duration.ofHours(number(matcher.group(1)))
                .plusMinutes(number(matcher.group(2)))
                .plusSeconds(number(matcher.group(3)));
    }

    private static long number(@Nullable String withUnit) {
        return withUnit == null ? 0 : Long.parseLong(withUnit.substring(0, withUnit.length() - 1));
    }

    private static String shortened(String text) {
        return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "…";
    }
}
