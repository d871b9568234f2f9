package dev.sandglass.operator.settings;

import java.math.BigDecimal;

/**
 * Requests of sandbox pods as shares of their limits. CPU has its own ratio: on a node that is short of CPU pods become
 * slower, on one that is short of memory they end.
 *
 * @param cpu above 0 and at most 1
 * @param memory also of ephemeral storage; above 0 and at most 1
 */
public record RequestRatios(BigDecimal cpu, BigDecimal memory) {

    /** Refuses a ratio above 1, which Kubernetes would refuse, and one that would request nothing. */
    public RequestRatios {
        check("CPU", cpu);
        check("MEMORY", memory);
    }

    /** The same ratio for all resources. */
    public static RequestRatios of(String ratio) {
        return new RequestRatios(new BigDecimal(ratio), new BigDecimal(ratio));
    }

    private static void check(String resource, BigDecimal ratio) {
        if (ratio.signum() <= 0 || ratio.compareTo(BigDecimal.ONE) > 0) {
            throw new IllegalArgumentException(
                    "OPERATOR_%s_REQUEST_RATIO must be above 0 and at most 1, not %s".formatted(resource, ratio));
        }
    }
}
