package dev.sandglass.gateway.link;

import java.util.PriorityQueue;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Things to do later, on the thread that asks for them to be done. Not thread-safe. */
final class Timers {

    private final LongSupplier nanoTime;
    private final PriorityQueue<Timer> queue = new PriorityQueue<>();

    /**
     * @param nanoTime a clock like {@link System#nanoTime}
     */
    Timers(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** The clock's time. */
    long now() {
        return nanoTime.getAsLong();
    }

    /** Does something after so many nanoseconds, once. */
    Timer after(long nanos, Runnable action) {
        Timer timer = new Timer(now() + nanos, action);
        queue.add(timer);
        return timer;
    }

    /** Does what is due; tells how many nanoseconds there are until the next, or {@link Long#MAX_VALUE} if there is none. */
    long runDue() {
        while (true) {
            Timer next = queue.peek();
            if (next == null) {
                return Long.MAX_VALUE;
            }
            Runnable action = next.action;
            long rest = next.due - now();
            if (action != null && rest > 0) {
                return rest;
            }
            queue.poll();
            if (action != null) {
                action.run();
            }
        }
    }

    /** One thing to do. */
    static final class Timer implements Comparable<Timer> {
        private final long due;
        // Emptied when cancelled, so that a long time-out holds on to nothing.
        private @Nullable Runnable action;

        private Timer(long due, Runnable action) {
            this.due = due;
            this.action = action;
        }

        /** Does not do it. */
        void cancel() {
            action = null;
        }

        @Override
        public int compareTo(Timer other) {
            return Long.compare(due - other.due, 0);
        }
    }
}
