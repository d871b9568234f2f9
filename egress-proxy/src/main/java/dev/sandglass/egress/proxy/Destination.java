package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.tunnel.Outcome;
import java.util.List;

/** Where a target leads to. */
sealed interface Destination {

    /** To these addresses, all of them checked, in the order of dialling. */
    record Reachable(List<IpAddress> addresses) implements Destination {}

    /**
     * Nowhere.
     *
     * @param outcome what to answer
     * @param why in words, without a full stop
     */
    record Refused(Outcome outcome, String why) implements Destination {}
}
