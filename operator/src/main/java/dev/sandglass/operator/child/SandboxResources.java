package dev.sandglass.operator.child;

import dev.sandglass.api.SandboxSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** Limits as the spec says; requests as the installation's part of them, in the canonical form the API keeps. */
final class SandboxResources {

    private static final BigDecimal MILLI = new BigDecimal("0.001");

    private SandboxResources() {}

    static ResourceRequirements of(SandboxSpec spec, BigDecimal requestRatio) {
        return new ResourceRequirementsBuilder()
                .addToLimits("memory", spec.memory())
                .addToLimits("cpu", spec.cpus())
                .addToLimits("ephemeral-storage", spec.disk())
                .addToRequests("memory", bytes(spec.memory(), requestRatio))
                .addToRequests("cpu", millis(spec.cpus(), requestRatio))
                .addToRequests("ephemeral-storage", bytes(spec.disk(), requestRatio))
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
