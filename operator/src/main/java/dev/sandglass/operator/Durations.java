package dev.sandglass.operator;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as Kubernetes users write them: hours, minutes and seconds, in that order, each at most once. */
final class Durations {

    private static final Pattern FORM = Pattern.compile("(?:(\\d{1,6})h)?(?:(\\d{1,6})m)?(?:(\\d{1,6})s)?");

    private Durations() {}

    static Duration parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (text.isEmpty() || !matcher.matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a duration like 30m, 8h or 1h30m");
        }
        return Duration.ofHours(number(matcher.group(1)))
                .plusMinutes(number(matcher.group(2)))
                .plusSeconds(number(matcher.group(3)));
    }

    private static long number(String digits) {
        return digits == null ? 0 : Long.parseLong(digits);
    }
}
