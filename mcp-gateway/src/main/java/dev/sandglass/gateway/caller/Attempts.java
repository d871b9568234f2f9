package dev.sandglass.gateway.caller;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lines under the logger {@code audit} of requests that showed no valid key or link, or came from a page that may not call:
 * where they come from. At most one a second, since whoever has none may come as often as he likes; each says how many
 * others there were since the one before. Thread-safe.
 */
public final class Attempts {

    private static final Logger AUDIT = LoggerFactory.getLogger("audit");
    private static final long PACE = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanoTime;
    private long next;
    private long untold;

    /**
     * None so far.
     *
     * @param nanoTime a monotonic clock
     */
    public Attempts(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.next = nanoTime.getAsLong();
    }

    /**
     * Tells of one, or counts it.
     *
     * @param source the address it came from
     * @param status that was answered, or 0 if the client went before
     */
    public void refused(String source, int status) {
        long others;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            if (now - next < 0) {
                untold++;
                return;
            }
            next = now + PACE;
            others = untold;
            untold = 0;
        }
        AUDIT.atInfo()
                .addKeyValue("source", source)
                .addKeyValue("status", status)
                .addKeyValue("others", others)
                .log("request refused");
    }
}
