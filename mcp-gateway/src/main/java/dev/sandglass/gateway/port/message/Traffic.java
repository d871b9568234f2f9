package dev.sandglass.gateway.port.message;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** What moved over one connection, both ways together. Thread-safe. */
public final class Traffic {

    private final LongSupplier nanoTime;
    private final AtomicLong bytes = new AtomicLong();
    private volatile long last;
    private volatile long seen;

    public Traffic(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.last = nanoTime.getAsLong();
    }

    public void moved(int count) {
        bytes.addAndGet(count);
        last = nanoTime.getAsLong();
    }

    public long bytes() {
        return bytes.get();
    }

    public boolean isIdle(Duration most) {
        return nanoTime.getAsLong() - last > most.toNanos();
    }

    /** Whether something moved since this was asked before. By one thread at a time. */
    public boolean isNewUse() {
        long before = seen;
        seen = bytes.get();
        return seen != before;
    }
}
