package dev.sandglass.egress.tunnel;

import io.netty.channel.ChannelFutureListener;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Buffers with what one side of a tunnel has said and the other has not taken yet. Each direction holds few, a mark of Netty's
 * write buffer and one read, 128 KiB; that very many whose readers stand still do not take the memory of all others, tunnels
 * end when all together hold too much.
 */
public final class Backlog {

    /** How long a reader may stand still as long as there is room. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    /** What a write costs besides its buffer, about. */
    private static final int OVERHEAD = 512;

    private final long most;
    private final LongSupplier nanoTime;
    private final LongAdder bytes = new LongAdder();

    /** What one direction of a tunnel holds. Belongs to the tunnel's event loop, but for the questions. */
    final class Direction {
        private int sum;
        private volatile int held;
        private volatile long lastTaken;

        /**
         * Counts a buffer that is about to be written, until what is returned hears that it is, or never will be.
         *
         * @param capacity of the buffer, however little of it is filled
         */
        ChannelFutureListener hold(int capacity) {
            int size = capacity + OVERHEAD;
            if (sum == 0) {
                lastTaken = nanoTime.getAsLong();
            }
            change(size);
            return written -> {
                lastTaken = nanoTime.getAsLong();
                change(-size);
                if (!written.isSuccess()) {
                    var _ = written.channel().close();
                }
            };
        }

        private void change(int size) {
            bytes.add(size);
            sum += size;
            held = sum;
        }

        int held() {
            return held;
        }

        /** Whether something has waited untaken for so long. */
        boolean hasStood(Duration time) {
            return held > 0 && nanoTime.getAsLong() - lastTaken >= time.toNanos();
        }
    }

    public Backlog(long most, LongSupplier nanoTime) {
        this.most = most;
        this.nanoTime = nanoTime;
    }

    public long bytes() {
        return bytes.sum();
    }

    /** How much is too much; 0 or less if nothing is. */
    long excess() {
        return bytes.sum() - most;
    }

    /** How long a reader may stand still: not at all when half as much again is held as may be. */
    Duration patience() {
        return excess() > most / 2 ? Duration.ZERO : PATIENCE;
    }
}
