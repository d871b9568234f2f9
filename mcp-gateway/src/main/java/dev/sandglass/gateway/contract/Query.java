package dev.sandglass.gateway.contract;

import java.util.Arrays;
import java.util.List;

/**
 * The query of the URL at which a contract is asked. Names and values are as they came, not decoded.
 *
 * @param text without question mark; empty for none
 */
public record Query(String text) {

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

    /** The names of all that is given, in their order. */
    public List<String> names() {
        return Arrays.stream(text.split("&"))
                .filter(each -> !each.isEmpty())
                .map(each -> each.contains("=") ? each.substring(0, each.indexOf('=')) : each)
                .toList();
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
