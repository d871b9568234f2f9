package dev.sandglass.gateway.link;

import dev.sandglass.gateway.link.frame.Inbound;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkFrames;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Gets a connection's wire open: dials while somebody needs it, greets ({@link Greeting}), dials again when it broke. Each attempt is a
 * wire of its own, so that nothing from before a break can reach whoever answers after it. Owner thread only.
 */
final class Dialling {

    private static final Logger LOG = LoggerFactory.getLogger(Dialling.class);

    private static final long NO_SOCKET_PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final long ONE_ROUND = TimeUnit.MILLISECONDS.toNanos(1);

    private final Connection connection;
    private final LinkTarget target;
    private final Wire.Source wires;
    private final Connection.Owner owner;
    private final Counters counters;
    private final Redial redial = new Redial();

    // Handed over to the connection when its far side was greeted.
    private @Nullable Wire attempt;
    private @Nullable Greeting greeting;
    // Of the attempt's step, or of the pause until the next.
    private Link.@Nullable Subscription timer;
    private String trouble = "not tried yet";
    private byte[] identity = freshIdentity();
    private boolean greeted;
    // The trouble is how a handshake failed, which an attempt that goes on is not to hide.
    private boolean toldOfHandshake;

    Dialling(Connection connection, LinkTarget target, Wire.Source wires, Connection.Owner owner, Counters counters) {
        this.connection = connection;
        this.target = target;
        this.wires = wires;
        this.owner = owner;
        this.counters = counters;
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

    /** Why there is no connection, as a clause. */
    String trouble() {
        return trouble;
    }

    /** Begins an attempt, unless there is one, or a wire, or a pause, or nobody who wants it. */
    void dialIfNeeded() {
        if (connection.isOpen() || attempt != null || timer != null || !connection.isNeeded()) {
            return;
        }
        Wire dialled;
        try {
            dialled = wires.open(connection);
        } catch (LinkException noSocket) {
            connection.failAll(noSocket);
            // Whoever listens waits for better times.
            restartTimer(NO_SOCKET_PAUSE, this::dialIfNeeded);
            return;
        }
        attempt = dialled;
        greeted = false;
        greeting = Greeting.begin(target, owner, dialled, counters.peer());
        // A loop that was busy for longer than that reads what came in meanwhile before a timer that begins now.
        restartTimer(
                redial.tcpPatience(owner.now()), () -> restartTimer(ONE_ROUND, () -> dialAnew("no TCP connection")));
    }

    /** The TCP connection of a wire stands. */
    void connected(Wire which) {
        if (which == attempt) {
            restartTimer(redial.greetingPatience(), () -> dialAnew("it accepted the connection and says nothing"));
        }
    }

    /** The far side speaks ZeroMQ; keys and hello are still to come. */
    void greeted(Wire which) {
        if (which == attempt) {
            greeted = true;
            if (!toldOfHandshake) {
                trouble = "it accepted the connection but did not finish the handshake";
            }
            restartTimer(redial.helloPatience(), this::unanswered);
        }
    }

    private void unanswered() {
        dialAnew("no answer to " + (greeting == null ? "hello" : greeting.unanswered()));
    }

    /** A message came in on a wire that is not open: nothing but the answers to the greeting counts there. */
    void received(Wire which, Inbound message) {
        if (which != attempt || greeting == null) {
            return;
        }
        if (message instanceof Inbound.Malformed) {
            counters.malformed().increment();
            return;
        }
        switch (greeting.received(message)) {
            case Greeting.Step.Stray _ -> counters.stray().increment();
            case Greeting.Step.Waiting _ -> {
                // The patience for hello is the patience for both.
            }
            case Greeting.Step.Open(Hello hello) -> opened(which, hello);
            case Greeting.Step.Failed(LinkException why) -> connection.shutDown(why);
            case Greeting.Step.Later(String why) -> {
                identity = freshIdentity();
                giveUp(why);
            }
        }
    }

    /** The other side refused or closed a wire. */
    void broken(Wire which, String why) {
        if (which == attempt || which == connection.wire()) {
            redial.heard();
            giveUp(why);
        }
    }

    /** The wire, open or not, is of no use: tries another one at once. */
    void dialAnew(String why) {
        if (greeted) {
            // It may still go through on the far side, and would take its successor's place there.
            identity = freshIdentity();
        }
        giveUp(why);
        stopTimer();
        dialIfNeeded();
    }

    /** Closes the wire, open or not, and tries no more until somebody asks. */
    void hangUp(String why) {
        stopTimer();
        trouble = why;
        Wire old = attempt;
        attempt = null;
        greeting = null;
        if (old != null) {
            old.close();
        }
        connection.broken();
    }

    private void opened(Wire which, Hello hello) {
        stopTimer();
        attempt = null;
        greeting = null;
        trouble = "";
        redial.opened(owner.now());
        counters.opened().increment();
        connection.opened(which, hello);
    }

    private void giveUp(String why) {
        boolean wasOpen = connection.isOpen();
        toldOfHandshake = greeted && !wasOpen;
        hangUp(why);
        if (wasOpen) {
            counters.broken().increment();
        }
        LOG.atLevel(wasOpen ? Level.INFO : Level.DEBUG)
                .addKeyValue("uid", target.sandboxUid())
                .addKeyValue("reason", why)
                .log("No connection to a sandbox");
        if (connection.isNeeded()) {
            restartTimer(redial.pause(owner.now()), this::dialIfNeeded);
        } else {
            redial.rest();
        }
    }

    private static byte[] freshIdentity() {
        return LinkFrames.ascii(UUID.randomUUID().toString());
    }

    private void restartTimer(long nanos, Runnable action) {
        stopTimer();
        timer = owner.after(nanos, () -> {
            timer = null;
            action.run();
        });
    }

    private void stopTimer() {
        if (timer != null) {
            timer.close();
            timer = null;
        }
    }
}
