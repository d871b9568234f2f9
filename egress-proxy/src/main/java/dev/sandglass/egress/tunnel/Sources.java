package dev.sandglass.egress.tunnel;

import dev.sandglass.api.egress.IpAddress;
import java.util.HashMap;
import java.util.Map;

/** Counts connections by where they come from, so that nobody takes them all before anything is known of him. */
final class Sources {

    private final int most;
    private final int mostOfOne;
    private final Map<IpAddress, Integer> open = new HashMap<>();
    private int all;

    Sources(int most, int mostOfOne) {
        this.most = most;
        this.mostOfOne = mostOfOne;
    }

    /** Counts one more; false if that would be too many, and nothing is counted. */
    synchronized boolean enter(IpAddress source) {
        if (all >= most || open.getOrDefault(source, 0) >= mostOfOne) {
            return false;
        }
        all++;
        open.merge(source, 1, Integer::sum);
        return true;
    }

    /** Counts one less. */
    synchronized void leave(IpAddress source) {
        all--;
        open.computeIfPresent(source, (same, count) -> count > 1 ? count - 1 : null);
    }

    synchronized int count() {
        return all;
    }
}
