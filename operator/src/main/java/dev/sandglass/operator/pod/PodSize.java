package dev.sandglass.operator.pod;

import dev.sandglass.operator.settings.RequestRatios;
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

    /** These limits, and requests as the installation's shares of them, in the canonical form that the API keeps. */
    ResourceRequirements resources(RequestRatios ratios) {
        return new ResourceRequirementsBuilder()
                .addToLimits("memory", memory)
                .addToLimits("cpu", cpus)
                .addToLimits("ephemeral-storage", disk)
                .addToRequests("memory", bytes(memory, ratios.memory()))
                .addToRequests("cpu", millis(cpus, ratios.cpu()))
                .addToRequests("ephemeral-storage", bytes(disk, ratios.memory()))
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
