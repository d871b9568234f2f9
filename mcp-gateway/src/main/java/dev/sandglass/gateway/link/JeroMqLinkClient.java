package dev.sandglass.gateway.link;

import dev.sandglass.api.LinkKeys;
import dev.sandglass.api.LinkSecret;
import dev.sandglass.gateway.link.LinkException.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;
import zmq.ZError;

/**
 * One thread that owns every socket. It sleeps in a selector over the sockets' signal channels, so that a thousand idle
 * links cost nothing per message (ZeroMQ's own poller looks at each of them each time); other threads put commands into its
 * mailbox.
 */
final class JeroMqLinkClient implements LinkClient, Connection.Owner {

    private static final Logger LOG = LoggerFactory.getLogger(JeroMqLinkClient.class);

    // Then it is the turn of the others.
    private static final int MESSAGES_PER_TURN = 64;
    private static final int FRUITLESS_WAKES = 2;
    private static final long SIGNAL_PAUSE = TimeUnit.MICROSECONDS.toNanos(20);
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

    private final LinkSettings settings;
    private final LinkSecret secret;
    private final ZMQ.Context context;
    private final Selector selector;
    private final Thread thread;
    private final Counters counters;
    private final AtomicLong ids = new AtomicLong();
    private final Mailbox commands;
    private final Connections connections = new Connections(this::make);

    // Owner thread only.
    private final Timers timers = new Timers(System::nanoTime);
    private final Set<JeroMqWire> readable = new LinkedHashSet<>();
    private final JeroMqWire.Hooks hooks = new JeroMqWire.Hooks(this::execute, readable::add, this::forget);
    private int sockets;
    private boolean woken;
    private boolean heard;
    private int fruitless;

    private volatile boolean closed;

    private JeroMqLinkClient(LinkSettings settings, LinkSecret secret, Selector selector) {
        this.settings = settings;
        this.secret = secret;
        this.selector = selector;
        this.commands = new Mailbox(selector::wakeup);
        this.counters = new Counters(settings.peerName());
        this.context = ZMQ.context(Runtime.getRuntime().availableProcessors());
        // Sockets that are being closed count too.
        this.context.setMaxSockets(2 * settings.maxLinks());
        this.thread = Thread.ofPlatform().name("link").daemon().unstarted(this::run);
    }

    static JeroMqLinkClient start(LinkSettings settings, LinkSecret secret) {
        try {
            JeroMqLinkClient client = new JeroMqLinkClient(settings, secret, Selector.open());
            client.thread.start();
            return client;
        } catch (IOException e) {
            throw new UncheckedIOException("No selector for the links", e);
        }
    }

    @Override
    public Link link(LinkTarget target) {
        return new JeroMqLink(this, target);
    }

    @Override
    public LinkStats stats() {
        return new LinkStats(
                connections.openCount(),
                counters.opened().sum(),
                counters.broken().sum(),
                counters.malformed().sum(),
                counters.stray().sum());
    }

    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join(CLOSE_PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public Timers timers() {
        return timers;
    }

    @Override
    public void execute(Runnable action) {
        commands.add(action);
    }

    /** Runs something on the owner thread: at once if this is it. */
    void runOnOwner(Runnable action) {
        if (Thread.currentThread() == thread) {
            action.run();
        } else {
            execute(action);
        }
    }

    @Override
    public String nextId() {
        return Long.toString(ids.incrementAndGet(), Character.MAX_RADIX);
    }

    @Override
    public Pending pending(Verb verb, @Nullable Attachment attachment) {
        String id = nextId();
        return new Pending(id, verb, LinkFrames.verb(id, verb), attachment);
    }

    /** The connections; all but what is said there on the owner thread only. */
    Connections connections() {
        return connections;
    }

    /** Whether nothing more can be asked. */
    boolean isClosed() {
        return closed;
    }

    private Connection make(LinkTarget target) {
        LinkKeys keys = LinkKeys.derive(secret, target.sandboxUid(), target.incarnation());
        return new Connection(target, connection -> open(connection, keys), this, counters);
    }

    private Wire open(Connection connection, LinkKeys keys) {
        if (sockets >= settings.maxLinks()) {
            throw new LinkException(Kind.OVERLOADED, "More than " + settings.maxLinks() + " links are in use");
        }
        JeroMqWire wire;
        try {
            wire = JeroMqWire.open(context, connection, keys, hooks);
            wire.channel().register(selector, SelectionKey.OP_READ, wire);
        } catch (ZMQException | ZError.IOException | ClosedChannelException e) {
            LOG.atError().setCause(e).addKeyValue("open", sockets).log("No socket for a link");
            throw new LinkException(Kind.OVERLOADED, "The gateway has no socket left");
        }
        sockets++;
        return wire;
    }

    private void forget(JeroMqWire wire) {
        sockets--;
        readable.remove(wire);
        SelectionKey key = wire.channel().keyFor(selector);
        if (key != null) {
            key.cancel();
        }
    }

    private void run() {
        timers.after(sweepInterval(), this::sweep);
        try {
            while (!closed) {
                // Timers last: what came in may have set one, or have made one needless.
                runCommands();
                receive();
                sleep(timers.runDue());
            }
        } catch (IOException | RuntimeException e) {
            LOG.atError().setCause(e).log("The thread of the links failed");
        } finally {
            closed = true;
            shutDown();
        }
    }

    private void runCommands() {
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
            guarded(command, null);
        }
    }

    /** What one bad message or reader does must not end the others' links. */
    private static void guarded(Runnable action, @Nullable JeroMqWire wire) {
        try {
            action.run();
        } catch (RuntimeException e) {
            LOG.atError().setCause(e).log("A step of the links failed");
            if (wire != null) {
                wire.connection().dialling().broken(wire, "a fault in the gateway");
            }
        }
    }

    private void receive() {
        for (JeroMqWire wire : List.copyOf(readable)) {
            guarded(() -> receive(wire), wire);
        }
    }

    private void receive(JeroMqWire wire) {
        // A message may close its wire, or another's: then it is not in the set any more.
        for (int messages = 0; readable.contains(wire); messages++) {
            if (messages == MESSAGES_PER_TURN) {
                return;
            }
            List<byte[]> frames = wire.receive();
            if (frames == null) {
                readable.remove(wire);
            } else {
                heard = true;
                wire.connection().received(wire, InboundFrames.decode(frames));
            }
        }
    }

    private void sleep(long timerRest) throws IOException {
        fruitless = woken && !heard ? fruitless + 1 : 0;
        if (fruitless > FRUITLESS_WAKES) {
            // A signal without its message: ZeroMQ's thread was stopped between the two. Asking again and again would
            // keep it from its core.
            LockSupport.parkNanos(SIGNAL_PAUSE);
        }
        woken = false;
        heard = false;
        if (!readable.isEmpty() || !commands.fallAsleep()) {
            selector.selectNow(this::mark);
            return;
        }
        // Rounded up: a millisecond too late does no harm, a loop until it is due would. Zero is for ever.
        selector.select(this::mark, timerRest == Long.MAX_VALUE ? 0 : TimeUnit.NANOSECONDS.toMillis(timerRest) + 1);
        commands.awake();
    }

    private void mark(SelectionKey key) {
        if (key.attachment() instanceof JeroMqWire wire) {
            readable.add(wire);
            woken = true;
        }
    }

    private long sweepInterval() {
        return Math.max(TimeUnit.MILLISECONDS.toNanos(10), settings.idleAfter().toNanos() / 4);
    }

    private void sweep() {
        connections.closeIdle(settings.idleAfter());
        timers.after(sweepInterval(), this::sweep);
    }

    private void shutDown() {
        LinkException why = new LinkException(Kind.CLOSED, "The gateway is shutting down");
        runCommands();
        connections.shutDown(why);
        runCommands();
        try {
            selector.close();
        } catch (IOException e) {
            LOG.atWarn().setCause(e).log("The links' selector did not close");
        }
        context.close();
    }
}
