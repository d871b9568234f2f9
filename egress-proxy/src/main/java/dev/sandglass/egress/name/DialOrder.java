package dev.sandglass.egress.name;

import dev.sandglass.api.egress.IpAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * In which order the addresses of a name are tried: IPv6 and IPv4 by turns, so that a family which leads nowhere costs one
 * attempt and not all (RFC 8305). Within a family the resolver's order stays.
 */
public final class DialOrder {

    /** Most addresses that are tried. */
    public static final int MOST = 8;

    private DialOrder() {}

    /** The addresses to try, each once. */
    public static List<IpAddress> of(List<IpAddress> addresses) {
        List<IpAddress> six = new ArrayList<>();
        List<IpAddress> four = new ArrayList<>();
        new LinkedHashSet<>(addresses).forEach(address -> (address.isSix() ? six : four).add(address));
        List<IpAddress> order = new ArrayList<>();
        for (int i = 0; i < Math.max(six.size(), four.size()); i++) {
            if (i < six.size()) {
                order.add(six.get(i));
            }
            if (i < four.size()) {
                order.add(four.get(i));
            }
        }
        return List.copyOf(order.subList(0, Math.min(MOST, order.size())));
    }
}
