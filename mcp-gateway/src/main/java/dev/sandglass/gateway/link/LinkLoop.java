package dev.sandglass.gateway.link;

import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.gateway.link.call.PodCalls;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.LinkFrames;
import dev.sandglass.gateway.link.frame.Verb;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All links on one event loop of Netty, which is their owner thread. Where requests of HTTP are served by the same loop, a
 * call goes from one to the other and back without waking a thread (ADR-0005).
 */
final class LinkLoop implements LinkClient, Connection.Owner {

    private static final Logger LOG = LoggerFactory.getLogger(LinkLoop.class);

    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);
    private static final long SHORTEST_SWEEP = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int BUFFER = 256 * 1024;
    private static final int SWEEPS_PER_IDLE_TIME = 4;

    private final LinkSettings settings;
    private final LinkSecrets secrets;
    private final PodCalls calls;
    private final SeatConfigurations seats;
    private final EventLoop loop;
    private final Bootstrap bootstrap;
    private final Counters counters;
    private final AtomicLong ids = new AtomicLong();
    private final Connections connections = new Connections(this::make);

    // Owner thread only.
    private int wires;

    private volatile boolean closed;

    private LinkLoop(
            EventLoop loop,
            Class<? extends SocketChannel> channels,
            LinkSettings settings,
            LinkSecrets secrets,
            PodCalls calls,
            SeatConfigurations seats) {
        this.settings = settings;
        this.secrets = secrets;
        this.calls = calls;
        this.seats = seats;
        this.loop = loop;
        this.counters = new Counters(settings.peerName());
        this.bootstrap = new Bootstrap()
                .group(loop)
                .channel(channels)
                .option(ChannelOption.TCP_NODELAY, true)
                // Of the system: left to itself it holds tens of MiB of a far side that does not read.
                .option(ChannelOption.SO_RCVBUF, BUFFER)
                .option(ChannelOption.SO_SNDBUF, BUFFER)
                // What did not get through by then never will: a run whose caller was told so would begin minutes
                // later.
                .option(ChannelOption.SO_LINGER, 0);
    }

    static LinkLoop start(
            EventLoop loop,
            Class<? extends SocketChannel> channels,
            LinkSettings settings,
            LinkSecrets secrets,
            PodCalls calls,
            SeatConfigurations seats) {
        LinkLoop links = new LinkLoop(loop, channels, settings, secrets, calls, seats);
        loop.execute(() -> links.after(links.sweepInterval(), links::sweep));
        return links;
    }

    @Override
    public Link link(LinkTarget target) {
        return new LoopLink(this, target);
    }

    @Override
    public LinkStats stats() {
        return new LinkStats(
                connections.openCount(),
                counters.opened().sum(),
                counters.broken().sum(),
                counters.malformed().sum(),
                counters.stray().sum(),
                counters.openNetworks().sum());
    }

    @Override
    public void close() {
        closed = true;
        if (loop.inEventLoop()) {
            shutDown();
        } else if (!loop.isShuttingDown()) {
            loop.submit(this::shutDown).awaitUninterruptibly(CLOSE_PATIENCE.toMillis());
        }
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    /** Netty lets go of a task that is cancelled on its own thread at once, however far away its time is. */
    @Override
    public Link.Subscription after(long nanos, Runnable action) {
        Runnable unlessClosed = () -> {
            if (!closed) {
                guarded(action);
            }
        };
        Future<?> timer = loop.schedule(unlessClosed, nanos, TimeUnit.NANOSECONDS);
        return () -> timer.cancel(false);
    }

    @Override
    public void execute(Runnable action) {
        try {
            loop.execute(() -> guarded(action));
        } catch (RejectedExecutionException tooLate) {
            if (!closed) {
                throw tooLate;
            }
        }
    }

    /** Runs something on the owner thread: at once if this is it. */
    void runOnOwner(Runnable action) {
        if (loop.inEventLoop()) {
            action.run();
        } else {
            execute(action);
        }
    }

    @Override
    public PodCalls calls() {
        return calls;
    }

    @Override
    public SeatConfigurations seats() {
        return seats;
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
        Iterator<LinkKeys> keys = secrets.attempts(target);
        return new Connection(target, connection -> open(connection, keys.next()), this, counters);
    }

    private Wire open(Connection connection, LinkKeys keys) {
        if (wires >= settings.maxLinks()) {
            throw new LinkException(Kind.OVERLOADED, "More than " + settings.maxLinks() + " links are in use");
        }
        wires++;
        return LinkWire.open(bootstrap, connection, this, keys, () -> wires--);
    }

    /** What one bad message or reader does must not end the others' links. */
    private static void guarded(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            LOG.atError().setCause(e).log("A step of the links failed");
        }
    }

    private long sweepInterval() {
        return Math.max(SHORTEST_SWEEP, settings.idleAfter().toNanos() / SWEEPS_PER_IDLE_TIME);
    }

    private void sweep() {
        connections.closeIdle(settings.idleAfter());
        after(sweepInterval(), this::sweep);
    }

    private void shutDown() {
        connections.shutDown(new LinkException(Kind.CLOSED, "The gateway is shutting down"));
    }
}
