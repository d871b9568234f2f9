package dev.sandglass.gateway.port;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** What moved over one connection, both ways together. Thread-safe. */
final class Traffic {

    private final LongSupplier nanoTime;
    private final AtomicLong bytes = new AtomicLong();
    private volatile long last;
    private volatile long seen;

    Traffic(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.last = nanoTime.getAsLong();
    }

    void moved(int count) {
        bytes.addAndGet(count);
        last = nanoTime.getAsLong();
    }

    long bytes() {
        return bytes.get();
    }

    boolean isIdle(Duration most) {
        return nanoTime.getAsLong() - last > most.toNanos();
    }

    /** Whether something moved since this was asked before. By one thread at a time. */
    boolean isNewUse() {
        long before = seen;
        seen = bytes.get();
        return seen != before;
    }
}
