package dev.sandglass.egress.tunnel;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** What each sandbox has used of its limits. */
public final class Allotments {

    private static final long SECOND = 1_000_000_000L;

    /** One sandbox's. */
    public final class Allotment {
        private final LongAdder bytes = new LongAdder();
        private int open;
        private double tokens = limits.newTunnels();
        private long at = nanoTime.getAsLong();

        private synchronized Optional<Outcome> take() {
            if (isSpent()) {
                return Optional.of(Outcome.QUOTA_EXCEEDED);
            }
            if (open >= limits.tunnels()) {
                return Optional.of(Outcome.TOO_MANY_TUNNELS);
            }
            long now = nanoTime.getAsLong();
            tokens = Math.min(limits.newTunnels(), tokens + (double) (now - at) / SECOND * limits.newTunnels());
            at = now;
            if (tokens < 1) {
                return Optional.of(Outcome.TOO_MANY_NEW_TUNNELS);
            }
            tokens--;
            open++;
            return Optional.empty();
        }

        /** Ends what was begun with success. */
        synchronized void giveBack() {
            open--;
        }

        /** Notes that bytes passed. */
        void passed(long count) {
            bytes.add(count);
        }

        /** Whether no byte more may pass. */
        boolean isSpent() {
            return limits.bytes() > 0 && bytes.sum() > limits.bytes();
        }
    }

    private final Limits limits;
    private final LongSupplier nanoTime;
    private final Map<String, Allotment> bySandbox = new ConcurrentHashMap<>();

    public Allotments(Limits limits, LongSupplier nanoTime) {
        this.limits = limits;
        this.nanoTime = nanoTime;
    }

    /** That of a sandbox. */
    public Allotment of(String uid) {
        return bySandbox.computeIfAbsent(uid, same -> new Allotment());
    }

    /**
     * Begins a tunnel.
     *
     * @return which limit forbids it; empty if it is begun and has to be given back
     */
    public static Optional<Outcome> take(Allotment allotment) {
        return allotment.take();
    }

    /** Forgets a sandbox that is gone. */
    public void forget(String uid) {
        bySandbox.remove(uid);
    }
}
