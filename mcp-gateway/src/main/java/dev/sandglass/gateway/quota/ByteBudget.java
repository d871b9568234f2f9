package dev.sandglass.gateway.quota;

import java.util.HashMap;
import java.util.Map;

/**
 * Bytes that a replica holds for others: bounded for all together, and for each owner to less than that, so that no owner
 * takes the place of all others. Thread-safe.
 */
public final class ByteBudget {

    private final long most;
    private final long mostOfOne;
    private final Map<String, Long> byOwner = new HashMap<>();
    private long held;

    /** Whether bytes were taken, or for want of whose room they were not. */
    public enum Taken {
        /** They are held now. */
        YES,
        /** Their owner would hold more than its most. */
        NO_ROOM_OF_OWNER,
        /** All together would hold more than their most. */
        NO_ROOM
    }

    /**
     * A budget of which nothing is taken.
     *
     * @param most bytes of all owners together
     * @param mostOfOne bytes of each
     */
    public ByteBudget(long most, long mostOfOne) {
        if (mostOfOne < 1 || most < mostOfOne) {
            throw new IllegalArgumentException(
                    "a budget of %d bytes, %d for each owner: each needs 1 or more, and all as much as one"
                            .formatted(most, mostOfOne));
        }
        this.most = most;
        this.mostOfOne = mostOfOne;
    }

    /** What one connection or request of an owner holds; nothing yet. */
    public Share share(String owner) {
        return new Share(owner);
    }

    /** Bytes of all owners together. */
    public synchronized long held() {
        return held;
    }

    /** Bytes of all owners together at most. */
    public long most() {
        return most;
    }

    /** Bytes of each owner at most. */
    public long mostOfOne() {
        return mostOfOne;
    }

    /** How many hold something. */
    synchronized int owners() {
        return byOwner.size();
    }

    private synchronized Taken take(Share share, long bytes) {
        if (share.ended || held + bytes > most) {
            return Taken.NO_ROOM;
        }
        long ofOwner = byOwner.getOrDefault(share.owner, 0L) + bytes;
        if (ofOwner > mostOfOne) {
            return Taken.NO_ROOM_OF_OWNER;
        }
        byOwner.put(share.owner, ofOwner);
        held += bytes;
        share.bytes += bytes;
        return Taken.YES;
    }

    private synchronized void give(Share share, long bytes) {
        long given = Math.min(bytes, share.bytes);
        share.bytes -= given;
        held -= given;
        byOwner.computeIfPresent(share.owner, (same, sum) -> sum == given ? null : sum - given);
    }

    private synchronized void end(Share share) {
        share.ended = true;
        give(share, share.bytes);
    }

    /** What one connection or request holds; its end gives back all of it. */
    public final class Share {
        private final String owner;
        private long bytes;
        private boolean ended;

        private Share(String owner) {
            this.owner = owner;
        }

        /** Takes so many bytes or none. */
        public Taken take(long count) {
            return ByteBudget.this.take(this, count);
        }

        /** Gives so many bytes back, or as many as are held. */
        public void give(long count) {
            ByteBudget.this.give(this, count);
        }

        /** Gives back what is held, once and for all. */
        public void end() {
            ByteBudget.this.end(this);
        }
    }
}
