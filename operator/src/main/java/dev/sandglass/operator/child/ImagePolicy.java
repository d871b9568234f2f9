package dev.sandglass.operator.child;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which images may run. Images are compared as they are written; nothing is completed by a default registry or tag.
 *
 * @param defaultImage always allowed
 * @param allowed patterns: {@code *} stands for any characters but a slash, {@code **} for any characters
 */
public record ImagePolicy(String defaultImage, List<String> allowed) {

    /** Names under which other systems' configurations know their stock images. */
    private static final Set<String> ALIASES = Set.of("microsandbox/python", "microsandbox/node");

    public ImagePolicy {
        allowed = List.copyOf(allowed);
    }

    /** The image to run for what a spec names; null means nothing named. */
    public String resolve(@Nullable String wanted) {
        return wanted == null || ALIASES.contains(wanted) ? defaultImage : wanted;
    }

    /** Whether a resolved image may run. */
    public boolean allows(String image) {
        return image.equals(defaultImage) || allowed.stream().anyMatch(glob -> matches(glob, image));
    }

    private static boolean matches(String glob, String image) {
        String regex = Pattern.compile("\\*\\*|\\*|[^*]+")
                .matcher(glob)
                .results()
                .map(part -> switch (part.group()) {
                    case "**" -> ".*";
                    case "*" -> "[^/]*";
                    default -> Pattern.quote(part.group());
                })
                .collect(Collectors.joining());
        return image.matches(regex);
    }
}
