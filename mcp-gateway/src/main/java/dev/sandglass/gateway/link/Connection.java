package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.link.call.UnansweredCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.LinkFrames;
import dev.sandglass.gateway.link.frame.Verb;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one supervisor: the verbs without answer, and who listens. Outlives broken wires: {@link Dialling} gets
 * the next one open, then verbs are sent again where that is harmless ({@link Pending}) and {@link Readings} go on at
 * their position. Owner thread only, but for {@link #isOpen}.
 */
final class Connection {

    /** Most verbs without answer. */
    static final int MAX_PENDING = 1024;

    /** How the ids of requests begin whose answer nobody waits for. */
    static final String UNASKED = "-";

    // An open connection on which a verb ran out of time and nothing was heard for so long is not one.
    private static final long DEAF = TimeUnit.SECONDS.toNanos(5);

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    private final Owner owner;
    private final Counters counters;
    private final Dialling dialling;
    private final Readings readings;
    private final UnansweredCalls calls;
    private final Map<String, Pending> pending = new LinkedHashMap<>();
    // Those of them that wait for the open wire to take more.
    private final Queue<Pending> unsent = new ArrayDeque<>();
    private final List<Consumer<LinkEvent>> listeners = new ArrayList<>();

    // The open one; one that is not open yet is the dialling's.
    private volatile @Nullable Wire wire;
    private @Nullable String bootId;
    // The supervisor of which it is known that its network is open.
    private @Nullable String openBootId;
    private long lastUse;
    private long lastHeard;
    // Bytes read of files that came since the wire is open.
    private long content;

    Connection(LinkTarget target, Wire.Source wires, Owner owner, Counters counters) {
        this.owner = owner;
        this.counters = counters;
        this.dialling = new Dialling(this, target, wires, owner, counters);
        this.readings = new Readings(this, owner);
        this.calls = new UnansweredCalls(owner.calls(), target.sandboxUid(), target.incarnation(), owner::execute);
        this.lastUse = owner.now();
    }

    /** What gets the wire open, and is told when one breaks. */
    Dialling dialling() {
        return dialling;
    }

    /** Whether the supervisor answered a hello and the connection has not broken since. */
    boolean isOpen() {
        return wire != null;
    }

    /** Where to send to, or null if nothing is open. */
    @Nullable
    Wire wire() {
        return wire;
    }

    /** Whether anybody wants it open. */
    boolean isNeeded() {
        return !pending.isEmpty() || !readings.isEmpty() || !listeners.isEmpty() || !calls.isEmpty();
    }

    /** Whether the execution is read here already; the supervisor knows one reading per connection and execution. */
    boolean follows(String executionId) {
        return readings.contains(executionId)
                || pending.values().stream()
                        .anyMatch(p -> p.attachment() != null
                                && p.attachment().executionId().equals(executionId));
    }

    /** Sends a verb, now or as soon as that is possible. */
    void submit(Pending verb, Duration timeout) {
        lastUse = owner.now();
        if (pending.size() >= MAX_PENDING) {
            verb.fail(
                    new LinkException(Kind.OVERLOADED, "More than " + MAX_PENDING + " requests wait for the sandbox"));
            return;
        }
        pending.put(verb.id(), verb);
        verb.expireBy(owner.after(timeout.toNanos(), () -> expire(verb, timeout)));
        var _ = verb.answer().whenComplete((_, _) -> {
            if (verb.answer().isCancelled()) {
                owner.execute(() -> withdraw(verb));
            }
        });
        Wire open = wire;
        if (open == null) {
            dialling.dialIfNeeded();
        } else {
            send(open, verb);
        }
    }

    /** Only what its far side reads: what a caller gave up meanwhile is never sent and holds nothing. */
    private void send(Wire open, Pending verb) {
        if (unsent.isEmpty() && open.isReady()) {
            open.send(verb.take());
        } else {
            unsent.add(verb);
        }
    }

    /** A wire takes more. */
    void ready(Wire which) {
        while (which == wire && which.isReady() && !unsent.isEmpty()) {
            which.send(unsent.remove().take());
        }
        if (which == wire) {
            calls.ready(which);
        }
    }

    /** A verb that waits no more; null if it did not. */
    private @Nullable Pending settle(String requestId) {
        Pending verb = pending.remove(requestId);
        if (verb != null) {
            unsent.remove(verb);
        }
        return verb;
    }

    /** Ends a reading, whether it began or not. */
    void unfollow(OutputReader reader) {
        pending.values().stream()
                .filter(p -> p.attachment() != null && p.attachment().reader() == reader)
                .toList()
                .forEach(this::withdraw);
        readings.end(reader);
    }

    void listen(Consumer<LinkEvent> listener) {
        listeners.add(listener);
        dialling.dialIfNeeded();
    }

    void unlisten(Consumer<LinkEvent> listener) {
        listeners.remove(listener);
        lastUse = owner.now();
    }

    /** Closes it if nobody used it for so long; true if it may be forgotten. */
    boolean closeIfIdle(Duration idleAfter) {
        boolean idle = !isNeeded() && owner.now() - lastUse >= idleAfter.toNanos();
        if (idle) {
            dialling.hangUp("closed after idling");
        }
        return idle;
    }

    /** Fails all that is under way and closes. */
    void shutDown(LinkException why) {
        dialling.hangUp(why.text());
        failAll(why);
    }

    /** Nothing will come any more of what is under way. */
    void failAll(LinkException why) {
        List<Pending> verbs = List.copyOf(pending.values());
        pending.clear();
        unsent.clear();
        verbs.forEach(verb -> verb.fail(why));
        readings.loseAll(why);
    }

    /** A wire is open: to a new supervisor if the boot id is another one, else all goes on. */
    void opened(Wire newWire, Hello hello) {
        boolean restarted = bootId != null && !bootId.equals(hello.bootId());
        bootId = hello.bootId();
        lastUse = owner.now();
        lastHeard = lastUse;
        wire = newWire;
        content = 0;
        unsent.clear();
        readings.opened(hello.window());
        if (restarted) {
            loseAll(new LinkException(Kind.RESTARTED, "The sandbox's container was restarted"));
        }
        List.copyOf(pending.values()).forEach(verb -> sendAgain(newWire, verb));
        readings.resume();
        tell(new LinkEvent.Opened(hello.bootId()));
        if (hello.networkOpen()) {
            networkIsOpen();
        }
    }

    private void sendAgain(Wire newWire, Pending verb) {
        if (verb.mustNotRepeat()) {
            settle(verb.id());
            verb.fail(new LinkException(Kind.UNREACHABLE, "the connection broke meanwhile"));
        } else {
            send(newWire, verb);
        }
    }

    /** There is no open wire any more; closes the one there was. */
    void broken() {
        Wire old = wire;
        wire = null;
        readings.pause();
        calls.lost();
        if (old != null) {
            old.close();
        }
    }

    /** A message came in. */
    void received(Wire which, Inbound message) {
        if (which != wire) {
            dialling.received(which, message);
            return;
        }
        lastHeard = owner.now();
        boolean expected =
                switch (message) {
                    case Inbound.Reply reply -> answered(reply);
                    case Inbound.Refusal refusal -> refused(refusal);
                    case Inbound.Output output -> readings.output(output);
                    case Inbound.Event event when event.kernel().equals(LinkFrames.NETWORK) -> networkIsOpen();
                    case Inbound.Event event -> tell(new LinkEvent.Kernel(event.kernel(), event.event()));
                    case Inbound.Call call -> called(call, which);
                    case Inbound.Withdrawal withdrawal -> calls.withdrawn(withdrawal.callId());
                    case Inbound.Malformed _ -> {
                        counters.malformed().increment();
                        yield true;
                    }
                };
        if (!expected) {
            counters.stray().increment();
        }
    }

    /** An answer; false if nobody asked, or not any more. */
    private boolean answered(Inbound.Reply reply) {
        lastUse = lastHeard;
        Pending verb = settle(reply.requestId());
        if (verb == null || verb.verb() instanceof Verb.Files) {
            acknowledge(reply.blob());
        }
        if (verb == null) {
            return reply.requestId().startsWith(UNASKED);
        }
        Answer answer = new Answer(reply.json(), reply.blob());
        if (verb.attachment() != null) {
            readings.begin(verb.attachment(), answer);
        }
        verb.succeed(answer);
        return true;
    }

    /** A call of the pod is a use: what runs in the background may call for hours, and no caller asks for anything. */
    private boolean called(Inbound.Call call, Wire which) {
        lastUse = lastHeard;
        return calls.came(call, which);
    }

    /** The supervisor sends only so much of files ahead, whether anybody waits for it still or not. */
    private void acknowledge(Blob ofFiles) {
        Wire open = wire;
        if (ofFiles.length() > 0 && open != null) {
            content += ofFiles.length();
            open.send(LinkFrames.credit(LinkFrames.FILES, content));
        }
    }

    /** A refusal; false if nobody asked, or not any more. */
    private boolean refused(Inbound.Refusal refusal) {
        Pending verb = settle(refusal.requestId());
        if (verb == null) {
            return refusal.requestId().startsWith(UNASKED);
        }
        verb.fail(new LinkException(Kind.REFUSED, refusal.code(), refusal.message()));
        return true;
    }

    /** Counted and logged once for each run of the supervisor. */
    private boolean networkIsOpen() {
        if (bootId != null && !bootId.equals(openBootId)) {
            openBootId = bootId;
            counters.openNetworks().increment();
            LOG.atError()
                    .addKeyValue("uid", dialling.target().sandboxUid())
                    .log("The network of a sandbox is open: its NetworkPolicies are not enforced");
        }
        return tell(new LinkEvent.NetworkOpen());
    }

    private boolean tell(LinkEvent event) {
        for (Consumer<LinkEvent> listener : List.copyOf(listeners)) {
            listener.accept(event);
        }
        return true;
    }

    private void loseAll(LinkException why) {
        readings.loseAll(why);
        for (Pending verb : List.copyOf(pending.values())) {
            if (verb.mayHaveRun()) {
                settle(verb.id());
                verb.fail(why);
            }
        }
    }

    private void withdraw(Pending verb) {
        if (settle(verb.id()) != null) {
            verb.fail(new LinkException(Kind.CLOSED, "Withdrawn"));
            if (verb.attachment() != null) {
                readings.detach(verb.attachment());
            }
        }
    }

    private void expire(Pending verb, Duration timeout) {
        if (settle(verb.id()) != null) {
            if (verb.attachment() != null) {
                readings.detach(verb.attachment());
            }
            verb.fail(new LinkException(Kind.UNREACHABLE, noAnswer(timeout)));
            if (isOpen() && owner.now() - lastHeard >= DEAF) {
                dialling.dialAnew("it does not answer any more");
            }
        }
    }

    private String noAnswer(Duration timeout) {
        String seconds = String.format(Locale.ROOT, "%.1f s", timeout.toMillis() / 1000.0);
        return isOpen()
                ? "connected, but no answer within " + seconds
                : "no connection within " + seconds + " (" + dialling.trouble() + ")";
    }

    /** What a connection needs of the thread it lives on. */
    interface Owner {
        /** A clock like {@link System#nanoTime}. */
        long now();

        /** Does something on the owner thread after so many nanoseconds, unless it is closed before. Called there only. */
        Link.Subscription after(long nanos, Runnable action);

        /** Runs something on the owner thread; from any thread. */
        void execute(Runnable action);

        String nextId();

        Pending pending(Verb verb, @Nullable Attachment attachment);

        /** What answers calls of pods. */
        PodCalls calls();

        /** What seats are configured with. */
        SeatConfigurations seats();
    }
}
