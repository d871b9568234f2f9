package dev.sandglass.egress.tunnel;

import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.RecvByteBufAllocator;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Bytes that one side of a tunnel has said and the other has not taken yet. Each tunnel holds few; that very many whose
 * readers stand still do not take the memory of all others, such tunnels end when all together hold too many.
 */
final class Backlog {

    /** How long a reader may stand still whatever there is to hold. */
    static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final int LEAST_READ = 64;
    private static final int FIRST_READ = 2048;
    private static final int MOST_READ = 64 << 10;

    private final long most;
    private final LongSupplier nanoTime;
    private final LongAdder bytes = new LongAdder();

    /** What one direction of a tunnel holds. Belongs to the tunnel's event loop, but for the question. */
    final class Direction {
        private int held;
        private volatile long lastTaken;
        private volatile boolean holds;

        /** Counts bytes that are about to be written, until what is returned hears that they are, or never will be. */
        ChannelFutureListener hold(int count) {
            if (held == 0) {
                lastTaken = nanoTime.getAsLong();
            }
            change(count);
            return written -> {
                lastTaken = nanoTime.getAsLong();
                change(-count);
                if (!written.isSuccess()) {
                    var _ = written.channel().close();
                }
            };
        }

        private void change(int count) {
            bytes.add(count);
            held += count;
            holds = held > 0;
        }

        /** Whether there is something that nobody has taken for so long. By any thread. */
        boolean hasStood(Duration time) {
            return holds && nanoTime.getAsLong() - lastTaken >= time.toNanos();
        }
    }

    Backlog(long most, LongSupplier nanoTime) {
        this.most = most;
        this.nanoTime = nanoTime;
    }

    /**
     * How much is read before it is looked whether the other side takes it: one buffer. With the usual mark of a channel's
     * write buffer, 64 KiB, that makes 128 KiB for each direction of a tunnel.
     */
    static RecvByteBufAllocator reading() {
        return new AdaptiveRecvByteBufAllocator(LEAST_READ, FIRST_READ, MOST_READ).maxMessagesPerRead(1);
    }

    boolean isTooLong() {
        return bytes.sum() > most;
    }

    long bytes() {
        return bytes.sum();
    }
}
