package dev.sandglass.gateway.link;

import java.util.PriorityQueue;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Things to do later, on the thread that asks for them to be done. Not thread-safe. */
final class Timers {

    /** So many that are cancelled may stay in the queue whatever its size: tidying up costs more than it frees then. */
    static final int FEW = 64;

    private final LongSupplier nanoTime;
    private final LongConsumer sooner;
    private final PriorityQueue<Timer> queue = new PriorityQueue<>();
    // How many in the queue are cancelled.
    private int cancelled;

    /**
     * @param nanoTime a clock like {@link System#nanoTime}
     * @param sooner told in how many nanoseconds {@link #runDue} is to be called, whenever that becomes sooner than what it
     *     was told before
     */
    Timers(LongSupplier nanoTime, LongConsumer sooner) {
        this.nanoTime = nanoTime;
        this.sooner = sooner;
    }

    /** The clock's time. */
    long now() {
        return nanoTime.getAsLong();
    }

    /** Does something after so many nanoseconds, once. */
    Timer after(long nanos, Runnable action) {
        Timer timer = new Timer(now() + nanos, action);
        queue.add(timer);
        if (queue.peek() == timer) {
            sooner.accept(nanos);
        }
        return timer;
    }

    /** Does what is due; tells how many nanoseconds there are until the next, or {@link Long#MAX_VALUE} if there is none. */
    long runDue() {
        for (Timer next = queue.peek(); next != null; next = queue.peek()) {
            Runnable action = next.action;
            long rest = next.due - now();
            if (action != null && rest > 0) {
                return rest;
            }
            queue.poll();
            if (action == null) {
                cancelled--;
            } else {
                // It is out of the queue: cancelling it now is nothing to count.
                next.action = null;
                action.run();
            }
        }
        return Long.MAX_VALUE;
    }

    /** How many are in the queue, cancelled ones included. */
    int size() {
        return queue.size();
    }

    /** A queue that is mostly cancelled is tidied up as a whole, so that each costs a constant share of that. */
    private void countCancelled() {
        cancelled++;
        if (cancelled > FEW && cancelled > queue.size() / 2) {
            queue.removeIf(timer -> timer.action == null);
            cancelled = 0;
        }
    }

    /** One thing to do. */
    final class Timer implements Comparable<Timer> {
        private final long due;
        // Emptied when cancelled, so that a long time-out holds on to nothing.
        private @Nullable Runnable action;

        private Timer(long due, Runnable action) {
            this.due = due;
            this.action = action;
        }

        /** Does not do it; nothing if it was done or cancelled before. */
        void cancel() {
            if (action != null) {
                action = null;
                countCancelled();
            }
        }

        @Override
        public int compareTo(Timer other) {
            return Long.compare(due - other.due, 0);
        }
    }
}
