package dev.sandglass.operator.pod;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * How large a pod is.
 *
 * @param memory limit of the container, shared memory included
 * @param cpus limit of the container
 * @param disk bound of its ephemeral storage, and of every place there that it can write to
 */
public record PodSize(Quantity memory, Quantity cpus, Quantity disk) {

    private static final BigDecimal MILLI = new BigDecimal("0.001");

    /** These limits; requests as the installation's part of them, in the canonical form the API keeps. */
    ResourceRequirements resources(BigDecimal requestRatio) {
        return new ResourceRequirementsBuilder()
                .addToLimits("memory", memory)
                .addToLimits("cpu", cpus)
                .addToLimits("ephemeral-storage", disk)
                .addToRequests("memory", bytes(memory, requestRatio))
                .addToRequests("cpu", millis(cpus, requestRatio))
                .addToRequests("ephemeral-storage", bytes(disk, requestRatio))
                .build();
    }

    private static Quantity bytes(Quantity limit, BigDecimal ratio) {
        return new Quantity(limit.getNumericalAmount()
                .multiply(ratio)
                .setScale(0, RoundingMode.CEILING)
                .toPlainString());
    }

    private static Quantity millis(Quantity limit, BigDecimal ratio) {
        BigDecimal millis = limit.getNumericalAmount().multiply(ratio).divide(MILLI, 0, RoundingMode.CEILING);
        return new Quantity(millis.toPlainString() + "m");
    }
}
