package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.LinkException.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is under way with one supervisor: verbs without answer and readings. Outlives broken connections: when the next one
 * is open, verbs are sent again (their ids make that harmless) and readings go on at their position. Owner thread only.
 */
final class Conversation {

    /** Most verbs without answer. */
    static final int MAX_PENDING = 1024;

    /** How the ids of requests begin whose answer nobody waits for. */
    private static final String UNASKED = "-";

    private static final long FLUSH_AFTER = TimeUnit.MILLISECONDS.toNanos(10);
    private static final Duration REATTACH = Duration.ofSeconds(30);

    private final Owner owner;
    private final Supplier<String> trouble;
    private final Runnable unanswered;
    private final Map<String, Pending> pending = new LinkedHashMap<>();
    private final Map<String, Attachment> attachments = new HashMap<>();
    private final Set<String> dismissed = new HashSet<>();
    private @Nullable Consumer<byte[][]> wire;
    private @Nullable String bootId;
    private long window;

    /**
     * @param trouble why there is no connection, as a clause; asked when there is none
     * @param unanswered told when a verb ran out of time on an open connection
     */
    Conversation(Owner owner, Supplier<String> trouble, Runnable unanswered) {
        this.owner = owner;
        this.trouble = trouble;
        this.unanswered = unanswered;
    }

    /** Whether a connection is needed. */
    boolean isBusy() {
        return !pending.isEmpty() || !attachments.isEmpty();
    }

    /** Whether the execution is read here already; the supervisor knows one reading per connection and execution. */
    boolean follows(String executionId) {
        return attachments.containsKey(executionId)
                || pending.values().stream()
                        .anyMatch(p -> p.attachment() != null
                                && p.attachment().executionId().equals(executionId));
    }

    /** Sends a verb, now or when there is a connection. */
    void submit(Pending verb, Duration timeout) {
        if (pending.size() >= MAX_PENDING) {
            verb.fail(
                    new LinkException(Kind.OVERLOADED, "More than " + MAX_PENDING + " requests wait for the sandbox"));
            return;
        }
        pending.put(verb.id(), verb);
        verb.expireBy(owner.timers().after(timeout.toNanos(), () -> expire(verb, timeout)));
        var _ = verb.answer().whenComplete((_, _) -> {
            if (verb.answer().isCancelled()) {
                owner.execute(() -> withdraw(verb));
            }
        });
        if (wire != null) {
            wire.accept(verb.take());
        }
    }

    /** Ends a reading, whether it began or not. */
    void unfollow(OutputReader reader) {
        pending.values().stream()
                .filter(p -> p.attachment() != null && p.attachment().reader() == reader)
                .toList()
                .forEach(this::withdraw);
        for (Attachment attachment : List.copyOf(attachments.values())) {
            if (attachment.reader() == reader) {
                attachments.remove(attachment.executionId());
                detach(attachment);
            }
        }
    }

    /** A connection is open: a new one if the boot id is another one, else the old conversation goes on. */
    void opened(String boot, long newWindow, Consumer<byte[][]> newWire) {
        boolean restarted = bootId != null && !bootId.equals(boot);
        bootId = boot;
        window = newWindow;
        wire = newWire;
        dismissed.clear();
        if (restarted) {
            loseAll(new LinkException(Kind.RESTARTED, "The sandbox's container was restarted"));
        }
        List<Attachment> readings = List.copyOf(attachments.values());
        List.copyOf(pending.values()).forEach(verb -> newWire.accept(verb.take()));
        readings.stream().filter(Attachment::returns).forEach(this::reattach);
    }

    /** The connection is gone. */
    void broken() {
        wire = null;
        attachments.values().forEach(Attachment::pause);
    }

    /** Nothing will come any more. */
    void failAll(LinkException why) {
        List<Pending> verbs = List.copyOf(pending.values());
        pending.clear();
        verbs.forEach(verb -> verb.fail(why));
        List<Attachment> readings = List.copyOf(attachments.values());
        attachments.clear();
        readings.forEach(reading -> reading.lose(why));
    }

    /** An answer; false if nobody asked, or not any more. */
    boolean answered(String requestId, Answer answer) {
        Pending verb = pending.remove(requestId);
        if (verb == null) {
            return requestId.startsWith(UNASKED);
        }
        Attachment attachment = verb.attachment();
        if (attachment != null) {
            attachments.put(attachment.executionId(), attachment);
            attachment.activate(window);
        }
        verb.succeed(answer);
        return true;
    }

    /** A refusal; false if nobody asked, or not any more. */
    boolean refused(Inbound.Refusal refusal) {
        Pending verb = pending.remove(refusal.requestId());
        if (verb == null) {
            return refusal.requestId().startsWith(UNASKED);
        }
        verb.fail(new LinkException(Kind.REFUSED, refusal.code(), refusal.message()));
        return true;
    }

    /** Output; false if nobody reads it, or not any more. */
    boolean output(Inbound.Output output) {
        Attachment attachment = attachments.get(output.executionId());
        if (attachment == null) {
            dismiss(output.executionId());
            return false;
        }
        if (output.record() instanceof OutputRecord.Outcome) {
            attachments.remove(output.executionId());
            attachment.end();
        }
        acknowledge(attachment, attachment.deliver(output.record(), () -> owner.execute(() -> settle(attachment))));
        return true;
    }

    private void settle(Attachment attachment) {
        acknowledge(attachment, attachment.settle());
    }

    private void acknowledge(Attachment attachment, long offset) {
        if (wire == null || attachments.get(attachment.executionId()) != attachment) {
            return;
        }
        if (offset != Attachment.NOTHING) {
            wire.accept(LinkFrames.credit(attachment.executionId(), offset));
        } else if (attachment.needsFlush()) {
            attachment.flushBy(owner.timers().after(FLUSH_AFTER, () -> acknowledge(attachment, attachment.flush())));
        }
    }

    private void reattach(Attachment attachment) {
        Verb.Attach verb = new Verb.Attach(attachment.executionId(), attachment.position());
        Pending again = owner.pending(verb, null);
        var _ = again.answer().whenComplete((_, failure) -> {
            if (attachments.get(attachment.executionId()) != attachment) {
                return;
            }
            if (failure == null) {
                attachment.activate(window);
            } else if (failure instanceof LinkException why && wire != null) {
                attachments.remove(attachment.executionId());
                attachment.lose(why);
            }
        });
        submit(again, REATTACH);
    }

    private void detach(Attachment attachment) {
        attachment.pause();
        dismissed.remove(attachment.executionId());
        dismiss(attachment.executionId());
    }

    /** Tells the supervisor once that nobody reads this: it would wait for our acknowledgement else. */
    private void dismiss(String executionId) {
        if (wire == null || follows(executionId) || !dismissed.add(executionId)) {
            return;
        }
        wire.accept(LinkFrames.verb(UNASKED + owner.nextId(), new Verb.Detach(executionId)));
        if (dismissed.size() > MAX_PENDING) {
            dismissed.clear();
        }
    }

    private void loseAll(LinkException why) {
        List<Attachment> readings = List.copyOf(attachments.values());
        attachments.clear();
        readings.forEach(reading -> reading.lose(why));
        for (Pending verb : new ArrayList<>(pending.values())) {
            if (verb.mayHaveRun()) {
                pending.remove(verb.id());
                verb.fail(why);
            }
        }
    }

    private void withdraw(Pending verb) {
        if (pending.remove(verb.id()) != null) {
            verb.fail(new LinkException(Kind.CLOSED, "Withdrawn"));
            if (verb.attachment() != null) {
                detach(verb.attachment());
            }
        }
    }

    private void expire(Pending verb, Duration timeout) {
        if (pending.remove(verb.id()) != null) {
            if (verb.attachment() != null) {
                detach(verb.attachment());
            }
            verb.fail(new LinkException(Kind.UNREACHABLE, noAnswer(timeout)));
            unanswered.run();
        }
    }

    private String noAnswer(Duration timeout) {
        String seconds = "%.1f s".formatted(timeout.toMillis() / 1000.0);
        return wire == null
                ? "no connection within " + seconds + " (" + trouble.get() + ")"
                : "connected, but no answer within " + seconds;
    }

    /** What a conversation needs of the thread it lives on. */
    interface Owner {
        Timers timers();

        /** Runs something on the owner thread; from any thread. */
        void execute(Runnable action);

        String nextId();

        Pending pending(Verb verb, @Nullable Attachment attachment);
    }
}
