package dev.sandglass.gateway.link;

import java.util.concurrent.atomic.LongAdder;

/**
 * What all connections have in common.
 *
 * @param peer how this process calls itself
 * @param opened connections that stood
 * @param broken connections that stood and broke
 * @param malformed messages that were dropped because they are none
 * @param stray messages that nobody waited for (any more)
 * @param openNetworks supervisors that got through to what their NetworkPolicies must close
 */
record Counters(
        String peer, LongAdder opened, LongAdder broken, LongAdder malformed, LongAdder stray, LongAdder openNetworks) {
    Counters(String peer) {
        this(peer, new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder(), new LongAdder());
    }
}
