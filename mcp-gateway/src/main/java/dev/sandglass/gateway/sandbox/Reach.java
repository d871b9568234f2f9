package dev.sandglass.gateway.sandbox;

import java.util.List;
import java.util.Optional;

/**
 * What the code in a sandbox may reach of the network.
 *
 * @param allowed entries of {@code spec.allowedDomains}, as they were written; empty for nothing
 * @param ignored what the operator says of entries that are not in force; empty if all are
 */
public record Reach(List<String> allowed, Optional<String> ignored) {

    /** No network. */
    public static final Reach NOTHING = new Reach(List.of(), Optional.empty());

    /** Copies the list. */
    public Reach {
        allowed = List.copyOf(allowed);
    }
}
