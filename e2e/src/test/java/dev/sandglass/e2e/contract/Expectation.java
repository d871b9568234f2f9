package dev.sandglass.e2e.contract;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Holds values of an answer against what {@code contract-rows.yaml} expects; its head says by which rules. Pure. */
final class Expectation {

    private static final String OTHERS_TOO = "...";

    private Expectation() {}

    /** Whether the value is as expected. */
    static boolean fits(@Nullable Object expected, @Nullable Object actual) {
        return switch (expected) {
            case null -> actual == null;
            case Map<?, ?> fields -> actual instanceof Map<?, ?> given && fieldsFit(fields, given);
            case List<?> elements -> actual instanceof List<?> given && elementsFit(elements, given);
            case Number number ->
                actual instanceof Number given && Double.compare(number.doubleValue(), given.doubleValue()) == 0;
            case String text
            when isPattern(text) ->
                actual != null && pattern(text).matcher(actual.toString()).find();
            default -> Objects.equals(expected, actual);
        };
    }

    private static boolean fieldsFit(Map<?, ?> expected, Map<?, ?> actual) {
        return expected.entrySet().stream()
                .allMatch(field ->
                        actual.containsKey(field.getKey()) && fits(field.getValue(), actual.get(field.getKey())));
    }

    private static boolean elementsFit(List<?> expected, List<?> actual) {
        boolean othersToo = !expected.isEmpty() && OTHERS_TOO.equals(expected.getLast());
        List<?> wanted = othersToo ? expected.subList(0, expected.size() - 1) : expected;
        return (othersToo || wanted.size() == actual.size())
                && wanted.stream().allMatch(one -> actual.stream().anyMatch(given -> fits(one, given)));
    }

    private static boolean isPattern(String text) {
        return text.length() > 2 && text.startsWith("/") && text.endsWith("/");
    }

    private static Pattern pattern(String text) {
        return Pattern.compile(text.substring(1, text.length() - 1));
    }
}
