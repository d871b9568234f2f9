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

    /** All values of that name, in their order. */
    public List<String> values(String name) {
        String begin = name + "=";
        return Arrays.stream(text.split("&"))
                .filter(each -> each.startsWith(begin))
                .map(each -> each.substring(begin.length()))
                .toList();
    }
}
