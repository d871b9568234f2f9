package dev.sandglass.operator.settings;

import java.math.BigDecimal;
import java.util.Optional;

/**
 * What Kubernetes' scheduler knows of every sandbox pod.
 *
 * @param requestRatio requests of cpu, memory and disk as a part of their limits, above 0 and at most 1
 * @param priorityClass empty for the cluster's default
 * @param placement on which nodes
 */
public record Scheduling(BigDecimal requestRatio, Optional<String> priorityClass, Placement placement) {

    /** Refuses a ratio that Kubernetes would refuse, or that would request nothing. */
    public Scheduling {
        if (requestRatio.signum() <= 0 || requestRatio.compareTo(BigDecimal.ONE) > 0) {
            throw new IllegalArgumentException("The request ratio must be above 0 and at most 1, not " + requestRatio);
        }
    }

    /** On every node without taints, with the cluster's default priority. */
    public static Scheduling anywhere(BigDecimal requestRatio) {
        return new Scheduling(requestRatio, Optional.empty(), Placement.ANYWHERE);
    }
}
