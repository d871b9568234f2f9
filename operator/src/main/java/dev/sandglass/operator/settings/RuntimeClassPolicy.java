package dev.sandglass.operator.settings;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which RuntimeClasses pods may have. A class can be a weaker wall than the one that nodes have by default, and can
 * lead to nodes that are kept apart: a sandbox gets none for the asking that the installation did not name.
 *
 * @param forced what every pod has; empty for what its sandbox asks for, or the cluster's default
 * @param allowed what a sandbox may ask for if none is forced, as patterns of an {@link AllowList}
 */
public record RuntimeClassPolicy(Optional<String> forced, List<String> allowed) {

    /** The cluster's default for every pod. */
    public static final RuntimeClassPolicy DEFAULT_ONLY = new RuntimeClassPolicy(Optional.empty(), List.of());

    public RuntimeClassPolicy {
        allowed = List.copyOf(allowed);
    }

    /** The class of a pod whose sandbox may ask for what it asks for; null for the cluster's default. */
    public @Nullable String resolve(@Nullable String wanted) {
        return forced.orElse(wanted);
    }

    /** Says why a sandbox cannot have what it asks for; empty if it can. */
    public Optional<String> problem(@Nullable String wanted) {
        if (wanted == null) {
            return Optional.empty();
        }
        if (forced.isPresent()) {
            return forced.filter(name -> !wanted.equals(name))
                    .map(name -> wanted + " is not allowed, this installation runs every sandbox with " + name
                            + "; leave the field out");
        }
        return new AllowList(allowed).allows(wanted)
                ? Optional.empty()
                : Optional.of(wanted + " is not on this installation's list of allowed RuntimeClasses"
                        + " (sandbox.allowedRuntimeClasses of the chart);"
                        + " leave the field out to use the cluster's default");
    }
}
