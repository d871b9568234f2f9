package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.OutputRecord;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One reading of one execution's output: hands records on and knows what may be acknowledged. Owner thread only. */
final class Attachment {

    /** {@link #deliver} and {@link #settle}: nothing to acknowledge. */
    static final long NOTHING = -1;

    // What is not dealt with: a window, and another one for each time that the connection broke meanwhile.
    private static final int MOST_WINDOWS = 4;

    private static final Logger LOG = LoggerFactory.getLogger(Attachment.class);

    private final String executionId;
    private final OutputReader reader;
    private final ArrayDeque<Delivery> unsettled = new ArrayDeque<>();
    private CreditWindow credit;
    private long window;
    private long held;
    private long position;
    private boolean active;
    private boolean returning;
    private Link.@Nullable Subscription flush;

    Attachment(String executionId, OutputReader reader, long from) {
        this.executionId = executionId;
        this.reader = reader;
        this.position = from;
        this.credit = new CreditWindow(0, from);
    }

    String executionId() {
        return executionId;
    }

    OutputReader reader() {
        return reader;
    }

    /** Where to go on reading after a broken connection. */
    long position() {
        return position;
    }

    /** The supervisor sends from our position with a fresh window; what was unsettled before is acknowledged no more. */
    void activate(long freshWindow) {
        active = true;
        returning = false;
        window = freshWindow;
        credit = new CreditWindow(window, position);
    }

    /** Tells the reader what the supervisor answered. */
    void begin(Answer answer) {
        try {
            reader.begun(answer);
        } catch (RuntimeException e) {
            logReader(e);
        }
    }

    /** Whether to ask for the rest now; false if that was asked already and not answered. */
    boolean returns() {
        boolean asked = returning;
        returning = true;
        return !asked;
    }

    /** Nobody answered to that: it is to be asked again. */
    void unanswered() {
        returning = false;
    }

    /** Whether records that come are this reading's. */
    boolean isActive() {
        return active;
    }

    /** Records that still come belong to an earlier reading. */
    void pause() {
        active = false;
    }

    /** Whether this record is more than a supervisor sends that waits for our acknowledgements. */
    boolean overruns(OutputRecord record) {
        return held > 0 && held + Delivery.size(record) > MOST_WINDOWS * window;
    }

    /**
     * Hands a record on.
     *
     * @param later run, on any thread, when a record is dealt with later than at once
     * @return the offset to acknowledge now, or {@link #NOTHING}
     */
    long deliver(OutputRecord record, Runnable later) {
        if (!active) {
            return NOTHING;
        }
        position = Math.max(position, record.end());
        Delivery delivery = new Delivery(record, credit);
        unsettled.add(delivery);
        held += Delivery.size(record);
        CompletionStage<?> stage = handOn(record);
        if (stage instanceof CompletableFuture<?> future && future.isDone()) {
            delivery.done = true;
        } else {
            stage.whenComplete((_, _) -> {
                delivery.done = true;
                later.run();
            });
        }
        return settle();
    }

    /** Looks which records are dealt with, oldest first; the offset to acknowledge now, or {@link #NOTHING}. */
    long settle() {
        boolean due = false;
        while (!unsettled.isEmpty() && unsettled.getFirst().done) {
            Delivery settled = unsettled.removeFirst();
            held -= Delivery.size(settled.record);
            due |= settled.credit == credit && credit.consumed(settled.record);
        }
        return due ? credit.acknowledge() : NOTHING;
    }

    /** Whether {@link #flush} is to be called in a short while. */
    boolean needsFlush() {
        return credit.owes() && flush == null;
    }

    /** What will call it. */
    void flushBy(Link.Subscription timer) {
        flush = timer;
    }

    /** The outcome is being handed on: nothing needs to be acknowledged any more. */
    void end() {
        if (flush != null) {
            flush.close();
        }
    }

    /** The offset to acknowledge now, however little it is, or {@link #NOTHING}. */
    long flush() {
        flush = null;
        return active && credit.owes() ? credit.acknowledge() : NOTHING;
    }

    /** Tells the reader that there is no more to come. */
    void lose(LinkException why) {
        active = false;
        try {
            reader.lost(why);
        } catch (RuntimeException e) {
            logReader(e);
        }
    }

    private CompletionStage<?> handOn(OutputRecord record) {
        try {
            return reader.record(record);
        } catch (RuntimeException e) {
            // A reader's fault must not take the thread down that serves all others.
            logReader(e);
            return CompletableFuture.completedFuture(null);
        }
    }

    private void logReader(RuntimeException e) {
        LOG.atError().setCause(e).addKeyValue("execution_id", executionId).log("A reader of output failed");
    }

    /** A record that was handed on; {@code done} is set by whatever thread ends the reader's stage. */
    private static final class Delivery {
        private final OutputRecord record;
        private final CreditWindow credit;
        private volatile boolean done;

        private Delivery(OutputRecord record, CreditWindow credit) {
            this.record = record;
            this.credit = credit;
        }

        /** What it holds while it waits; a gap's length is that of what is not there. */
        private static long size(OutputRecord record) {
            return CreditWindow.RECORD_COST + (record instanceof OutputRecord.Gap ? 0 : record.length());
        }
    }
}
