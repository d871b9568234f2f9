package dev.sandglass.gateway.contract;

import dev.sandglass.api.AmountLimit;
import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/** Reads amounts of memory, processors and disk as callers write them into Kubernetes quantities. */
final class Quantities {

    private static final Pattern GRAMMAR = Pattern.compile("([0-9]{1,12})(\\.[0-9]{1,6})?(m|k|M|G|T|Ki|Mi|Gi|Ti)?");
    private static final BigDecimal MOST = BigDecimal.valueOf(1_000_000_000L);

    /** By where they stand, in a configuration. The API server would refuse the same in words about plain numbers that are bytes. */
    private static final Map<String, AmountLimit> LIMITS = Map.of(
            "memory", AmountLimit.MEMORY,
            "cpus", AmountLimit.CPUS,
            "disk", AmountLimit.DISK,
            "workspace", AmountLimit.WORKSPACE,
            "workspace.size", AmountLimit.WORKSPACE);

    private static final String CONFIG = "config.";

    private Quantities() {}

    /**
     * The quantity in canonical text, within the bounds of its field.
     *
     * @param unit suffix that a bare number gets, e.g. {@code Mi} (contracts.md M7 counts memory in MiB)
     */
    static String read(String field, JsonNode node, String unit) {
        String text = node.isNumber() ? plain(field, node, unit) : node.isString() ? node.asString() : "";
        boolean zero = text.chars().noneMatch(c -> c >= '1' && c <= '9');
        if (zero || !GRAMMAR.matcher(text).matches()) {
            throw broken(field, unit);
        }
        String quantity = endsWithUnit(text) ? text : text + unit;
        AmountLimit limit = LIMITS.get(field.startsWith(CONFIG) ? field.substring(CONFIG.length()) : field);
        if (limit != null && !limit.admits(quantity)) {
            throw new InvalidArgument("'%s' must be between %s and %s, and %s is not%s"
                    .formatted(
                            field,
                            limit.least(),
                            limit.most(),
                            quantity,
                            unit.isEmpty() ? "" : " (a plain number means %sB)".formatted(unit)));
        }
        return quantity;
    }

    private static String plain(String field, JsonNode node, String unit) {
        // 1e999 is read as infinite, which has no digits.
        boolean endless = node.isFloatingPointNumber() && !Double.isFinite(node.doubleValue());
        BigDecimal value = endless ? BigDecimal.ZERO : node.decimalValue();
        if (value.signum() <= 0 || value.compareTo(MOST) > 0 || value.scale() > 6) {
            throw broken(field, unit);
        }
        return value.stripTrailingZeros().toPlainString();
    }

    private static boolean endsWithUnit(String text) {
        return Character.isLetter(text.charAt(text.length() - 1));
    }

    private static InvalidArgument broken(String field, String unit) {
        return new InvalidArgument(
                unit.isEmpty()
                        ? "'%s' must be a number greater than 0, or a quantity such as \"500m\"".formatted(field)
                        : "'%s' must be a number of %sB greater than 0, or a quantity such as \"1Gi\""
                                .formatted(field, unit));
    }
}
