package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.LinkFrames;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.Verb;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The executions whose output one connection reads: hands records to their readings, acknowledges, and goes on after a
 * break. Owner thread only.
 */
final class Readings {

    private static final long FLUSH_AFTER = TimeUnit.MILLISECONDS.toNanos(10);
    private static final Duration REATTACH = Duration.ofSeconds(30);

    private final Connection connection;
    private final Connection.Owner owner;
    private final Map<String, Attachment> attachments = new HashMap<>();
    private final Set<String> dismissed = new HashSet<>();
    private long window;

    Readings(Connection connection, Connection.Owner owner) {
        this.connection = connection;
        this.owner = owner;
    }

    boolean isEmpty() {
        return attachments.isEmpty();
    }

    boolean contains(String executionId) {
        return attachments.containsKey(executionId);
    }

    /** The supervisor answered so, and sends this one's output from now on. */
    void begin(Attachment attachment, Answer answer) {
        attachments.put(attachment.executionId(), attachment);
        attachment.activate(window);
        attachment.begin(answer);
    }

    /** Ends a reader's readings. */
    void end(OutputReader reader) {
        for (Attachment attachment : List.copyOf(attachments.values())) {
            if (attachment.reader() == reader) {
                attachments.remove(attachment.executionId());
                detach(attachment);
            }
        }
    }

    /** Tells the supervisor that this one is over, or will never be: the answer that begins it may be on its way. */
    void detach(Attachment attachment) {
        attachment.pause();
        dismissed.remove(attachment.executionId());
        dismiss(attachment.executionId());
    }

    /** Output; false if nobody reads it, or not any more. */
    boolean output(Inbound.Output output) {
        Attachment attachment = attachments.get(output.executionId());
        if (attachment == null) {
            dismiss(output.executionId());
            return false;
        }
        if (attachment.isActive() && attachment.overruns(output.record())) {
            attachments.remove(output.executionId());
            attachment.lose(new LinkException(Kind.OVERLOADED, "It sends output that it was not asked for yet"));
            detach(attachment);
            return false;
        }
        if (output.record() instanceof OutputRecord.Outcome && attachment.isActive()) {
            attachments.remove(output.executionId());
            attachment.end();
        }
        acknowledge(attachment, attachment.deliver(output.record(), () -> owner.execute(() -> settle(attachment))));
        return true;
    }

    /** A wire is open; the supervisor sends so many bytes of each execution ahead of our acknowledgement. */
    void opened(long newWindow) {
        window = newWindow;
        dismissed.clear();
    }

    /** Asks for what is missing since the break. */
    void resume() {
        List.copyOf(attachments.values()).stream().filter(Attachment::returns).forEach(this::reattach);
    }

    /** The wire is gone. */
    void pause() {
        attachments.values().forEach(Attachment::pause);
    }

    /** There is no more to come. */
    void loseAll(LinkException why) {
        List<Attachment> lost = List.copyOf(attachments.values());
        attachments.clear();
        lost.forEach(attachment -> attachment.lose(why));
    }

    private void settle(Attachment attachment) {
        acknowledge(attachment, attachment.settle());
    }

    private void acknowledge(Attachment attachment, long offset) {
        Wire wire = connection.wire();
        if (wire == null || attachments.get(attachment.executionId()) != attachment) {
            return;
        }
        if (offset != Attachment.NOTHING) {
            wire.send(LinkFrames.credit(attachment.executionId(), offset));
        } else if (attachment.needsFlush()) {
            attachment.flushBy(owner.after(FLUSH_AFTER, () -> acknowledge(attachment, attachment.flush())));
        }
    }

    private void reattach(Attachment attachment) {
        Verb.Attach verb = new Verb.Attach(attachment.executionId(), attachment.position());
        Pending again = owner.pending(verb, null);
        var _ = again.answer().whenComplete((_, failure) -> reattached(attachment, failure));
        connection.submit(again, REATTACH);
    }

    private void reattached(Attachment attachment, @Nullable Throwable failure) {
        if (attachments.get(attachment.executionId()) != attachment) {
            return;
        }
        if (failure == null) {
            attachment.activate(window);
        } else if (connection.isOpen() && failure instanceof LinkException why) {
            attachments.remove(attachment.executionId());
            attachment.lose(why);
        } else {
            // It broke again meanwhile: the next wire is to ask anew.
            attachment.unanswered();
        }
    }

    /** Tells the supervisor once that nobody reads this: it would wait for our acknowledgement else. */
    private void dismiss(String executionId) {
        Wire wire = connection.wire();
        if (wire == null || connection.follows(executionId) || !dismissed.add(executionId)) {
            return;
        }
        wire.send(LinkFrames.verb(Connection.UNASKED + owner.nextId(), new Verb.Detach(executionId)));
        if (dismissed.size() > Connection.MAX_PENDING) {
            dismissed.clear();
        }
    }
}
