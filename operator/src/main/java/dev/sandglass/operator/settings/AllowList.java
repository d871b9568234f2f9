package dev.sandglass.operator.settings;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Names that an installation allows.
 *
 * @param patterns {@code *} stands for any characters but a slash, {@code **} for any characters
 */
record AllowList(List<String> patterns) {

    private static final Pattern PARTS = Pattern.compile("\\*\\*|\\*|[^*]+");

    AllowList {
        patterns = List.copyOf(patterns);
    }

    /** Whether the whole name is as one of the patterns says. */
    boolean allows(String name) {
        return patterns.stream().anyMatch(pattern -> name.matches(regex(pattern)));
    }

    private static String regex(String pattern) {
        return PARTS.matcher(pattern)
                .results()
                .map(part -> switch (part.group()) {
                    case "**" -> ".*";
                    case "*" -> "[^/]*";
                    default -> Pattern.quote(part.group());
                })
                .collect(Collectors.joining());
    }
}
