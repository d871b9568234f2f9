package dev.sandglass.gateway.sandbox;

import java.util.List;
import java.util.Optional;

/**
 * What the code in a sandbox may reach of the network.
 *
 * @param allowed the entries that count, as they were written; empty for nothing
 * @param byDefault whether they are the installation's, for want of {@code spec.allowedDomains}
 * @param ignored what the operator says of entries that are not in force; empty if all are
 */
public record Reach(List<String> allowed, boolean byDefault, Optional<String> ignored) {

    /** No network. */
    public static final Reach NOTHING = new Reach(List.of(), false, Optional.empty());

    /** Copies the list. */
    public Reach {
        allowed = List.copyOf(allowed);
    }
}
