package dev.sandglass.api;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;

/** How much a sandbox may ask for, and how little. The bounds are those of the schema. */
public enum AmountLimit {

    /** Memory of its code. */
    MEMORY(SchemaRules.LEAST_BYTES, SchemaRules.MOST_MEMORY),

    /** Processors. */
    CPUS(SchemaRules.LEAST_CPUS, SchemaRules.MOST_CPUS),

    /** What it can write in all. */
    DISK(SchemaRules.LEAST_BYTES, SchemaRules.MOST_DISK),

    /** A workspace that outlives its pod. */
    WORKSPACE(SchemaRules.LEAST_BYTES, SchemaRules.MOST_DISK);

    private final String least;
    private final String most;

    AmountLimit(String least, String most) {
        this.least = least;
        this.most = most;
    }

    /** The least, as a quantity. */
    public String least() {
        return least;
    }

    /** The most, as a quantity. */
    public String most() {
        return most;
    }

    /**
     * Whether a quantity is within the bounds.
     *
     * @throws IllegalArgumentException if it is none
     */
    public boolean admits(String quantity) {
        BigDecimal amount = number(quantity);
        return amount.compareTo(number(least)) >= 0 && amount.compareTo(number(most)) <= 0;
    }

    private static BigDecimal number(String quantity) {
        return Quantity.getAmountInBytes(new Quantity(quantity));
    }
}
