package dev.sandglass.operator.settings;

import java.util.Optional;

/**
 * What Kubernetes' scheduler knows of every sandbox pod.
 *
 * @param requestRatios requests as shares of limits
 * @param priorityClass empty for the cluster's default
 * @param placement on which nodes
 */
public record Scheduling(RequestRatios requestRatios, Optional<String> priorityClass, Placement placement) {

    /** On every node without taints, with the cluster's default priority. */
    public static Scheduling anywhere(RequestRatios requestRatios) {
        return new Scheduling(requestRatios, Optional.empty(), Placement.ANYWHERE);
    }
}
