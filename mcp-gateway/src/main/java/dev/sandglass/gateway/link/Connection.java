package dev.sandglass.gateway.link;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The connection to one supervisor: dials while somebody needs it, says hello, dials again when it broke. Each attempt is a
 * wire of its own, so that nothing from before a break can reach whoever answers after it. Owner thread only, but for
 * {@link #isOpen}.
 */
final class Connection {

    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    private static final long NO_SOCKET_PAUSE = TimeUnit.SECONDS.toNanos(1);
    // An open connection on which a verb ran out of time and nothing was heard for so long is not one.
    private static final long DEAF = TimeUnit.SECONDS.toNanos(5);

    private final LinkTarget target;
    private final Wire.Source wires;
    private final Conversation.Owner owner;
    private final Counters counters;
    private final Conversation conversation;
    private final List<Consumer<LinkEvent>> listeners = new ArrayList<>();
    private final Redial redial = new Redial();

    private @Nullable Wire wire;
    private Timers.@Nullable Timer timer;
    private String helloId = "";
    private String trouble = "not tried yet";
    private byte[] identity = freshIdentity();
    private boolean greeted;
    private long lastUse;
    private long lastHeard;
    private volatile boolean open;

    Connection(LinkTarget target, Wire.Source wires, Conversation.Owner owner, Counters counters) {
        this.target = target;
        this.wires = wires;
        this.owner = owner;
        this.counters = counters;
        this.conversation = new Conversation(owner, () -> trouble, this::unanswered);
        this.lastUse = owner.timers().now();
    }

    LinkTarget target() {
        return target;
    }

    /**
     * How the far side knows this connection. It is kept when the connection breaks: the supervisor then sees the same
     * reader come back, and does not wait for the window of one that is gone.
     */
    byte[] identity() {
        return identity;
    }

    /** Whether the supervisor answered a hello and the connection has not broken since. */
    boolean isOpen() {
        return open;
    }

    boolean follows(String executionId) {
        return conversation.follows(executionId);
    }

    /** Sends a verb as soon as that is possible. */
    void submit(Pending verb, Duration timeout) {
        lastUse = owner.timers().now();
        conversation.submit(verb, timeout);
        dialIfNeeded();
    }

    void unfollow(OutputReader reader) {
        conversation.unfollow(reader);
    }

    void listen(Consumer<LinkEvent> listener) {
        listeners.add(listener);
        dialIfNeeded();
    }

    void unlisten(Consumer<LinkEvent> listener) {
        listeners.remove(listener);
        lastUse = owner.timers().now();
    }

    /** Closes it if nobody used it for so long; true if it may be forgotten. */
    boolean closeIfIdle(Duration idleAfter) {
        boolean idle = !isNeeded() && owner.timers().now() - lastUse >= idleAfter.toNanos();
        if (idle) {
            hangUp("closed after idling");
        }
        return idle;
    }

    /** Fails all that is under way and closes. */
    void shutDown(LinkException why) {
        hangUp(why.text());
        conversation.failAll(why);
    }

    /** The TCP connection of a wire stands. */
    void connected(Wire which) {
        if (which == wire && !open) {
            String why = "it accepted the connection and says nothing";
            restartTimer(redial.greetingPatience(), () -> outOfPatience(which, why));
        }
    }

    /** The far side speaks ZeroMQ; keys and hello are still to come. */
    void greeted(Wire which) {
        if (which == wire && !open) {
            greeted = true;
            trouble = "it accepted the connection but did not finish the handshake";
            restartTimer(redial.helloPatience(), () -> outOfPatience(which, "no answer to hello"));
        }
    }

    /** The other side refused or closed a wire. */
    void broken(Wire which, String why) {
        if (which == wire) {
            redial.heard();
            giveUp(why);
        }
    }

    private void giveUp(String why) {
        boolean wasOpen = open;
        hangUp(why);
        conversation.broken();
        if (wasOpen) {
            counters.broken().increment();
        }
        LOG.atLevel(wasOpen ? Level.INFO : Level.DEBUG)
                .addKeyValue("sandboxUid", target.sandboxUid())
                .addKeyValue("reason", why)
                .log("No connection to a sandbox");
        if (isNeeded()) {
            restartTimer(redial.pause(owner.timers().now()), this::dialIfNeeded);
        } else {
            redial.rest();
        }
    }

    private void outOfPatience(Wire which, String why) {
        if (which != wire) {
            return;
        }
        if (greeted) {
            // It may still go through on the far side, and would take its successor's place there.
            identity = freshIdentity();
        }
        giveUp(why);
        stopTimer();
        dialIfNeeded();
    }

    private void unanswered() {
        Wire deaf = wire;
        if (open && deaf != null && owner.timers().now() - lastHeard >= DEAF) {
            outOfPatience(deaf, "it does not answer any more");
        }
    }

    private static byte[] freshIdentity() {
        return LinkFrames.ascii(UUID.randomUUID().toString());
    }

    /** A message came in. */
    void received(Wire which, Inbound message) {
        if (which != wire) {
            return;
        }
        lastHeard = owner.timers().now();
        boolean expected =
                switch (message) {
                    case Inbound.Reply reply -> reply(which, reply);
                    case Inbound.Refusal refusal -> refusal(refusal);
                    case Inbound.Output output -> conversation.output(output);
                    case Inbound.Event event -> tell(new LinkEvent.Kernel(event.kernel(), event.event()));
                    case Inbound.Malformed _ -> {
                        counters.malformed().increment();
                        yield true;
                    }
                };
        if (!expected) {
            counters.stray().increment();
        }
    }

    private boolean reply(Wire which, Inbound.Reply reply) {
        lastUse = owner.timers().now();
        if (reply.requestId().equals(helloId)) {
            try {
                opened(which, Hello.parse(reply.json(), target));
            } catch (LinkException incompatible) {
                shutDown(incompatible);
            }
            return true;
        }
        return conversation.answered(reply.requestId(), new Answer(reply.json(), reply.blob()));
    }

    private boolean refusal(Inbound.Refusal refusal) {
        if (refusal.requestId().equals(helloId)) {
            shutDown(Hello.incompatible(refusal.message()));
            return true;
        }
        return conversation.refused(refusal);
    }

    private boolean tell(LinkEvent event) {
        for (Consumer<LinkEvent> listener : List.copyOf(listeners)) {
            listener.accept(event);
        }
        return true;
    }

    private void opened(Wire which, Hello hello) {
        stopTimer();
        helloId = "";
        open = true;
        trouble = "";
        redial.rest();
        counters.opened().increment();
        conversation.opened(hello.bootId(), hello.window(), which::send);
        tell(new LinkEvent.Opened(hello.bootId()));
    }

    private boolean isNeeded() {
        return conversation.isBusy() || !listeners.isEmpty();
    }

    private void dialIfNeeded() {
        if (wire != null || timer != null || !isNeeded()) {
            return;
        }
        Wire dialled;
        try {
            dialled = wires.open(this);
        } catch (LinkException noSocket) {
            conversation.failAll(noSocket);
            // Whoever listens waits for better times.
            restartTimer(NO_SOCKET_PAUSE, this::dialIfNeeded);
            return;
        }
        wire = dialled;
        greeted = false;
        helloId = owner.nextId();
        // It waits in the wire until the connection stands, which saves a round through this thread.
        dialled.send(LinkFrames.verb(helloId, new Verb.Hello(counters.peer())));
        long patience = redial.tcpPatience(owner.timers().now());
        restartTimer(patience, () -> outOfPatience(dialled, "no TCP connection"));
    }

    private void hangUp(String why) {
        stopTimer();
        open = false;
        trouble = why;
        Wire old = wire;
        wire = null;
        if (old != null) {
            old.close();
        }
    }

    private void restartTimer(long nanos, Runnable action) {
        stopTimer();
        timer = owner.timers().after(nanos, () -> {
            timer = null;
            action.run();
        });
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
