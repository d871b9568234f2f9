package dev.sandglass.egress.splitdns;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** So many a second for each sandbox, and as many at once after a second of silence. */
final class Rates {

    private static final double SECOND = 1_000_000_000;

    private record Bucket(double tokens, long at) {}

    private final int perSecond;
    private final LongSupplier nanoTime;
    private final Map<String, Bucket> bySandbox = new ConcurrentHashMap<>();

    Rates(int perSecond, LongSupplier nanoTime) {
        this.perSecond = perSecond;
        this.nanoTime = nanoTime;
    }

    /** Counts one more; false if that is too many. */
    boolean take(String uid) {
        long now = nanoTime.getAsLong();
        double[] had = new double[1];
        bySandbox.compute(uid, (same, bucket) -> {
            had[0] = bucket == null
                    ? perSecond
                    : Math.min(perSecond, bucket.tokens() + (now - bucket.at()) / SECOND * perSecond);
            return new Bucket(had[0] >= 1 ? had[0] - 1 : had[0], now);
        });
        return had[0] >= 1;
    }

    /** Forgets a sandbox that is gone. */
    void forget(String uid) {
        bySandbox.remove(uid);
    }

    int size() {
        return bySandbox.size();
    }
}
