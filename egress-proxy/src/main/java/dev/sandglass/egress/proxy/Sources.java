package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.IpAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Counts connections by where they come from, so that no unknown client takes them all, or causes a line in the log for
 * each connection of a flood.
 */
public final class Sources {

    private static final double SECOND = 1_000_000_000;

    /** One of them; as many connections may come at once as in a second. */
    private static final class Source {
        private int open;
        private double tokens;
        private long at;
    }

    private final int most;
    private final int mostOfOne;
    private final int perSecondOfOne;
    private final LongSupplier nanoTime;
    private final Map<IpAddress, Source> known = new HashMap<>();
    private long swept;
    private int all;

    /**
     * None yet.
     *
     * @param most open at a time
     * @param mostOfOne of these, by one source
     * @param perSecondOfOne new ones within a second, by one source
     */
    public Sources(int most, int mostOfOne, int perSecondOfOne, LongSupplier nanoTime) {
        this.most = most;
        this.mostOfOne = mostOfOne;
        this.perSecondOfOne = perSecondOfOne;
        this.nanoTime = nanoTime;
        this.swept = nanoTime.getAsLong();
    }

    /** Counts one more; false if that would be too many, and nothing is counted. */
    public synchronized boolean enter(IpAddress address) {
        long now = nanoTime.getAsLong();
        forgetThoseLongGone(now);
        Source source = known.computeIfAbsent(address, same -> begun(now));
        source.tokens = Math.min(perSecondOfOne, source.tokens + (now - source.at) / SECOND * perSecondOfOne);
        source.at = now;
        if (all >= most || source.open >= mostOfOne || source.tokens < 1) {
            return false;
        }
        source.tokens--;
        source.open++;
        all++;
        return true;
    }

    private Source begun(long now) {
        Source source = new Source();
        source.tokens = perSecondOfOne;
        source.at = now;
        return source;
    }

    /** After a second of silence a source is as good as a new one. */
    private void forgetThoseLongGone(long now) {
        if (now - swept >= SECOND) {
            swept = now;
            known.values().removeIf(source -> source.open == 0 && now - source.at >= SECOND);
        }
    }

    /** Counts one less. */
    public synchronized void leave(IpAddress address) {
        Source source = known.get(address);
        if (source != null) {
            source.open--;
            all--;
        }
    }

    synchronized int count() {
        return all;
    }

    synchronized int size() {
        return known.size();
    }
}
