package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.Link;
import dev.sandglass.gateway.link.OutputReader;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.output.OutputCollector;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;
import tools.jackson.databind.JsonNode;

/**
 * One call that waits for one execution: collects, passes on what is printed, and answers once: at the end, when its
 * patience is over, or when a page is full. Lives on the link's thread alone, so that it needs no lock and nothing is
 * passed on after the answer.
 */
final class ExecutionCall implements OutputReader {

    // The node tells why within a second or two, and the operator right after it.
    private static final Duration CAUSE = Duration.ofSeconds(2);
    // What is there already may come through a slow listener.
    private static final Duration CATCH_UP = Duration.ofSeconds(10);

    private static final String BEHIND_THE_END =
            "'offset': %d is behind the end; the execution has %d bytes of output so far. Give the next_offset of an"
                    + " earlier answer, or 0 for all of it.";

    private static final Duration POSITION = Duration.ofSeconds(1);
    // As often as progress is told of one that prints nothing.
    private static final Duration LOOK = Duration.ofSeconds(15);

    private final Link link;
    private final ExecutionId id;
    private final OutputCollector output;
    private final OutputListener progress;
    private final MonoSink<ExecutionResult> sink;

    private boolean answered;
    private boolean impatient;
    private long caughtUpAt = Long.MAX_VALUE;
    private int queuePosition;
    private @Nullable Verdict known;
    private boolean restarted;
    private SandboxEnd.@Nullable ContainerEnded cause;
    private Link.@Nullable Subscription timer;
    private Link.@Nullable Subscription look;

    ExecutionCall(
            Link link,
            ExecutionId id,
            OutputCollector output,
            OutputListener progress,
            MonoSink<ExecutionResult> sink) {
        this.link = link;
        this.id = id;
        this.output = output;
        this.progress = progress;
        this.sink = sink;
    }

    /** Starts the clock; any thread. */
    void waitFor(Duration patience) {
        link.execute(() -> {
            if (patience.isZero()) {
                impatient = true;
            } else if (!answered) {
                timer = link.after(patience, this::patienceOver);
            }
        });
    }

    /** What the resource tells; any thread. */
    void ended(SandboxEnd end) {
        link.execute(() -> {
            switch (end) {
                case SandboxEnd.PodGone gone -> answerLost(Verdict.gone(gone.why()));
                case SandboxEnd.ContainerEnded container -> containerEnded(container);
            }
        });
    }

    /** Over a link that is open it was taken by the container that came after, or that end will still be seen there. */
    private void containerEnded(SandboxEnd.ContainerEnded container) {
        cause = container;
        if (restarted || (wasTaken() && !link.isOpen())) {
            answerLost(Verdict.containerEnded(container));
        }
    }

    /** Answers without a supervisor that could be read on: what it had and we have not is lost. */
    private void answerLost(Verdict verdict) {
        if (wasTaken() && !isCaughtUp()) {
            output.stopHere();
        }
        answer(known == null ? verdict : known.unreadable());
    }

    /** The link found another supervisor: waits a moment for the cause, which takes a longer way. */
    void restarted() {
        if (cause != null) {
            answerLost(Verdict.containerEnded(cause));
        } else if (!answered && !restarted) {
            restarted = true;
            restartTimer(CAUSE, () -> answerLost(Verdict.restarted()));
        }
    }

    /** As if the patience were over; any thread. */
    void drain() {
        link.execute(() -> {
            if (!answered) {
                patienceOver();
            }
        });
    }

    /** The caller waited long enough: answers with what there is, once the supervisor has taken it. */
    void patienceOver() {
        impatient = true;
        if (restarted) {
            answerLost(Verdict.restarted());
        } else if (isCaughtUp()) {
            answerQueued();
        } else if (wasTaken()) {
            limitCatchUp();
        }
    }

    /** One that waited when it was last heard of may have come nearer, or begun without a word. */
    private void answerQueued() {
        if (queuePosition == 0 || known != null || !link.isOpen()) {
            answer(unfinished());
            return;
        }
        askPosition(() -> {
            if (restarted) {
                answerLost(Verdict.restarted());
            } else {
                answer(unfinished());
            }
        });
    }

    private void askPosition(Runnable then) {
        var _ = link.ask(new Verb.ListAll(), POSITION).whenComplete((list, _) -> {
            if (list != null && queuePosition > 0) {
                queuePosition = QueuePosition.in(list.json(), id.number(), queuePosition);
            }
            then.run();
        });
    }

    /** Tells who waits what it is at, and looks again as long as it is in the queue. */
    private void tellPosition() {
        if (answered) {
            return;
        }
        progress.doing(queuePosition > 0 ? "waiting behind %d other execution(s)".formatted(queuePosition) : "running");
        if (queuePosition > 0) {
            look = link.after(LOOK, () -> askPosition(this::tellPosition));
        }
    }

    /**
     * The supervisor took what is to be run, or lets us read; from wherever: behind the end it waits for bytes that may
     * never come.
     */
    @Override
    public void begun(Answer answer) {
        if (answered) {
            return;
        }
        JsonNode end = answer.json().path("journal").path("end");
        if (end.isNumber() && output.position() > end.asLong()) {
            fail(new SandboxProblem.Refused(BEHIND_THE_END.formatted(output.position(), end.asLong())));
            return;
        }
        queuePosition = QueuePosition.of(answer.json(), 1);
        tellPosition();
        if (answer.json().path("outcome").isObject()) {
            // All is there to be read, and the outcome's record is its end.
            known = Verdict.of(OutputRecord.Outcome.parse(0, answer.json().path("outcome")));
        } else {
            caughtUpAt = end.asLong(0);
        }
        if (impatient && isCaughtUp()) {
            answer(unfinished());
        } else if (impatient) {
            patienceOver();
        }
    }

    @Override
    public CompletionStage<?> record(OutputRecord record) {
        if (answered) {
            return OutputListener.CONSUMED;
        }
        if (queuePosition > 0) {
            queuePosition = 0;
            tellPosition();
        }
        String printed = output.add(record);
        CompletionStage<?> consumed =
                printed.isEmpty() ? OutputListener.CONSUMED : progress.output(record.end(), printed);
        if (record instanceof OutputRecord.Outcome outcome) {
            answer(Verdict.of(outcome));
        } else if (output.isFull() || (impatient && isCaughtUp())) {
            answer(unfinished());
        }
        return consumed;
    }

    @Override
    public void lost(LinkException why) {
        switch (why.kind()) {
            case RESTARTED -> restarted();
            case REFUSED -> answer(Verdict.forgotten(Restarts.NONE));
            case UNREACHABLE, UNANSWERED, INCOMPATIBLE, OVERLOADED, CLOSED ->
                answer(Verdict.disconnected(queuePosition));
        }
    }

    /** Answers; only the first time. */
    void answer(Verdict verdict) {
        if (end()) {
            sink.success(verdict.with(id, output));
        }
    }

    /** Cannot be followed at all. */
    void fail(Throwable problem) {
        if (end()) {
            sink.error(problem);
        }
    }

    /** Nobody waits any more; false if it was answered before. */
    boolean abandon() {
        return end();
    }

    private boolean end() {
        if (answered) {
            return false;
        }
        answered = true;
        if (timer != null) {
            timer.close();
        }
        if (look != null) {
            look.close();
        }
        link.unfollow(this);
        return true;
    }

    private void limitCatchUp() {
        restartTimer(CATCH_UP, () -> answer(unfinished()));
    }

    private void restartTimer(Duration delay, Runnable action) {
        if (timer != null) {
            timer.close();
        }
        timer = link.after(delay, action);
    }

    private boolean wasTaken() {
        return caughtUpAt != Long.MAX_VALUE || known != null;
    }

    private boolean isCaughtUp() {
        return caughtUpAt != Long.MAX_VALUE && output.position() >= caughtUpAt;
    }

    private Verdict unfinished() {
        if (known != null) {
            // It ended, but this answer does not reach its end.
            output.stopHere();
            return known;
        }
        return link.isOpen() ? Verdict.running(queuePosition) : Verdict.disconnected(queuePosition);
    }
}
