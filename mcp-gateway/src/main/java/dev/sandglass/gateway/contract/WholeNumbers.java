package dev.sandglass.gateway.contract;

import java.util.OptionalLong;
import tools.jackson.databind.JsonNode;

/** Whole numbers as JSON Schema counts them: 5, and 5.0 or 5e0 too, as languages without integers write it. */
final class WholeNumbers {

    /** The first number that a long cannot hold; exact as a double. */
    private static final double TOO_LARGE = 0x1p63;

    private WholeNumbers() {}

    /** The number; empty if it is none, has a fraction, or is more than a long holds. */
    static OptionalLong read(JsonNode node) {
        if (node.isIntegralNumber()) {
            return node.canConvertToLong() ? OptionalLong.of(node.longValue()) : OptionalLong.empty();
        }
        double value = node.isNumber() ? node.doubleValue() : Double.NaN;
        boolean whole = value == Math.rint(value) && value >= -TOO_LARGE && value < TOO_LARGE;
        return whole ? OptionalLong.of((long) value) : OptionalLong.empty();
    }
}
