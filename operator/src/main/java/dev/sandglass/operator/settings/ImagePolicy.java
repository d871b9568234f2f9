package dev.sandglass.operator.settings;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which images may run. Images are compared as they are written; nothing is completed by a default registry or tag.
 *
 * @param defaultImage always allowed
 * @param allowed patterns of an {@link AllowList}
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
        return image.equals(defaultImage) || new AllowList(allowed).allows(image);
    }
}
