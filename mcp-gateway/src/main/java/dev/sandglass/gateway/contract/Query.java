package dev.sandglass.gateway.contract;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The query of the URL at which a contract is asked. Names and values are as they came, not decoded.
 *
 * @param text without question mark; empty for none
 */
public record Query(String text) {

    /** Most characters of a name that a refusal quotes. */
    static final int MAX_NAME = 64;

    /** No query. */
    public static final Query NONE = new Query("");

    /** That of a request's target. */
    public static Query of(String target) {
        int mark = target.indexOf('?');
        return mark < 0 ? NONE : new Query(target.substring(mark + 1));
    }

    /**
     * Whether a switch is on, as in {@code /mcp?structured=true}; off if it is not given.
     *
     * @throws InvalidArgument if it is given twice, or is neither {@code true} nor {@code false}
     */
    public boolean isOn(String name) {
        List<String> given = values(name);
        if (given.isEmpty()) {
            return false;
        }
        if (given.size() > 1
                || !(given.getFirst().equals("true") || given.getFirst().equals("false"))) {
            throw new InvalidArgument("'%s' in the URL must be true or false, given once".formatted(name));
        }
        return given.getFirst().equals("true");
    }

    /**
     * Refuses what has no meaning here: it would be taken for something that holds. No value is quoted, which may be a key.
     *
     * @param known the names that have one
     * @throws InvalidArgument if another name is given, or one of these without a value
     */
    public void check(Set<String> known) {
        for (String each : text.split("&", -1)) {
            int sign = each.indexOf('=');
            String name = sign < 0 ? each : each.substring(0, sign);
            if (!each.isEmpty() && !known.contains(name)) {
                throw new InvalidArgument("in the URL: '%s' is not known; known are %s"
                        .formatted(
                                name.length() <= MAX_NAME ? name : name.substring(0, MAX_NAME) + "…",
                                String.join(", ", new TreeSet<>(known))));
            }
            if (!each.isEmpty() && sign < 0) {
                throw new InvalidArgument("in the URL: '%s' must have a value, as in %s=…".formatted(name, name));
            }
        }
    }

    /** All values of that name, in their order. */
    public List<String> values(String name) {
        String begin = name + "=";
        return Arrays.stream(text.split("&"))
                .filter(each -> each.startsWith(begin))
                .map(each -> each.substring(begin.length()))
                .toList();
    }
}
