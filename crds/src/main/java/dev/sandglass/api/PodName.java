package dev.sandglass.api;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a pod, {@code sbx-<id>-<number>}. The pod's keys and its credential at the egress proxy derive from the id, so
 * the name says which they are.
 *
 * @param id the UID of the Sandbox for which the pod was made, or of a pod of a pool its seat id
 * @param incarnation number of the pod among those of its Sandbox, from 1; 0 for a pod of a pool
 */
public record PodName(String id, int incarnation) {

    /** A UID as Kubernetes writes it, and a number without leading zeros that fits into an {@code int}. */
    private static final Pattern FORM =
            Pattern.compile("sbx-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-(0|[1-9][0-9]{0,8})");

    /** Reads a name; empty if the operator would not have chosen it. */
    public static Optional<PodName> parse(String name) {
        Matcher parts = FORM.matcher(name);
        return parts.matches()
                ? Optional.of(new PodName(parts.group(1), Integer.parseInt(parts.group(2))))
                : Optional.empty();
    }

    /** As it stands in the pod's metadata. */
    public String text() {
        return "sbx-" + id + "-" + incarnation;
    }
}
