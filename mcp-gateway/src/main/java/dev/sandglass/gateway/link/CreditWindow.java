package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.OutputRecord;

/**
 * When to acknowledge: pure arithmetic over one execution's output. The supervisor counts every record's bytes plus a fixed
 * cost against its window, so what is consumed must be counted the same way: a flood of tiny records would otherwise fill
 * the window while the offset hardly moves, and both sides would wait for each other.
 */
final class CreditWindow {

    /** What a record costs besides its bytes; part of protocol version 1. */
    static final int RECORD_COST = 64;

    private final long threshold;
    private long consumedTo;
    private long costSince;

    /**
     * @param window the supervisor's window in bytes; it is acknowledged at a quarter of it at the latest
     * @param from offset at which the reading starts
     */
    CreditWindow(long window, long from) {
        this.threshold = Math.max(1, window / 4);
        this.consumedTo = from;
    }

    /**
     * Counts a record that is dealt with.
     *
     * @return whether {@link #acknowledge} is due now
     */
    boolean consumed(OutputRecord record) {
        consumedTo = Math.max(consumedTo, record.end());
        costSince += record.length() + RECORD_COST;
        return costSince >= threshold;
    }

    /**
     * Whether anything consumed is not acknowledged. It must be in a short while even if there is little of it: a record
     * larger than the window is sent only when nothing else is under way.
     */
    boolean owes() {
        return costSince > 0;
    }

    /** The offset to tell the supervisor; from here the count starts anew. */
    long acknowledge() {
        costSince = 0;
        return consumedTo;
    }
}
