package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.audit.Audit;
import dev.sandglass.egress.client.ClientAdmission;
import dev.sandglass.egress.client.Clients;
import dev.sandglass.egress.denial.Unreached;
import dev.sandglass.egress.name.Names;
import dev.sandglass.egress.tunnel.Allotments;
import dev.sandglass.egress.tunnel.Backlog;
import dev.sandglass.egress.tunnel.Limits;
import dev.sandglass.egress.tunnel.Tunnels;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The forward proxy of sandboxes: CONNECT and plain HTTP to what {@code allowedDomains} allows. Names are judged before
 * anything is looked up, every address before anything is dialled, and what was judged is what is dialled.
 */
public final class EgressProxy implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EgressProxy.class);

    private static final int BACKLOG = 1024;

    /**
     * Of the system, for what a sandbox says or has not heard yet. Left to itself the system gives some MiB to each
     * connection, of the memory of this process's pod; sandboxes are near, so that little is enough.
     */
    private static final int BUFFER = 128 << 10;

    private final ProxyContext workings;
    private final Sources sources;
    private final EventLoopGroup loops;
    private final Counter tooMany;
    private final Channel server;

    /**
     * Who asks, and what is allowed beyond the lists of sandboxes.
     *
     * @param clients sandboxes by address
     * @param admission who may use the proxy at all
     * @param names where allowed names lead
     * @param denied where no name may lead
     * @param limits how much and how long
     * @param tlsPorts ports on which a tunnel to a name must be TLS that asks for this name
     */
    public record Guard(
            Clients clients,
            ClientAdmission admission,
            Names names,
            DeniedRanges denied,
            Limits limits,
            Set<Integer> tlsPorts) {

        /** Ports of tunnels to names on which nothing but TLS is spoken, if the installation says nothing else. */
        public static final Set<Integer> TLS_PORTS = Set.of(DomainRule.HTTPS);
    }

    /**
     * Starts listening.
     *
     * @param address where; port 0 for any
     * @param loops carry all connections; their creator closes them
     * @param unreached told of every target that a sandbox's rules or the denied ranges refuse, and of every one that
     *     is allowed and not connected to, before the sandbox is; by any event loop, so it must not wait
     */
    public EgressProxy(
            InetSocketAddress address,
            Guard guard,
            EventLoopGroup loops,
            MeterRegistry meters,
            Consumer<Unreached> unreached)
            throws InterruptedException {
        LongSupplier nanoTime = System::nanoTime;
        Limits limits = guard.limits();
        Tunnels tunnels = new Tunnels(guard.clients());
        Allotments allotments = new Allotments(limits, nanoTime);
        guard.clients().onChange(uid -> {
            if (!guard.clients().knows(uid)) {
                allotments.forget(uid);
            }
        });
        this.loops = loops;
        this.sources = new Sources(
                limits.connections(), limits.connectionsOfASource(), limits.newConnectionsOfASource(), nanoTime);
        Backlog backlog = new Backlog(limits.backlog(), nanoTime);
        this.workings = new ProxyContext(
                guard.admission(),
                guard.clients(),
                tunnels,
                allotments,
                new Destinations(guard.names(), guard.denied(), limits.lookup()),
                new Dialler(limits.connect()),
                limits,
                backlog,
                guard.tlsPorts(),
                new Audit(meters, unreached),
                nanoTime);
        meters.gauge("sandglass.egress.tunnels", tunnels, Tunnels::count);
        meters.gauge("sandglass.egress.connections", sources, Sources::count);
        meters.gauge("sandglass.egress.backlog", backlog, Backlog::bytes);
        this.tooMany = meters.counter("sandglass.egress.connections.refused");
        var _ = loops.next().scheduleWithFixedDelay(() -> shorten(backlog, tunnels), 1, 1, TimeUnit.SECONDS);
        this.server = listen(address, new Door.Proxy());
    }

    private static void shorten(Backlog backlog, Tunnels tunnels) {
        try {
            tunnels.shorten(backlog);
        } catch (RuntimeException bug) {
            // Thrown on, it would be the last time.
            LOG.atError().setCause(bug).log("Shortening the backlog failed");
        }
    }

    /** Opens one more way in, to the same verdicts and limits. */
    public Channel listen(InetSocketAddress address, Door door) throws InterruptedException {
        return new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_RCVBUF, BUFFER)
                .childOption(ChannelOption.SO_SNDBUF, BUFFER)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel accepted) {
                        accept(accepted, door);
                    }
                })
                .bind(address)
                .sync()
                .channel();
    }

    private void accept(SocketChannel accepted, Door door) {
        IpAddress source = IpAddress.of(accepted.remoteAddress().getAddress());
        if (!sources.enter(source)) {
            tooMany.increment();
            var _ = accepted.close();
            return;
        }
        accepted.closeFuture().addListener(closed -> sources.leave(source));
        accepted.pipeline()
                .addLast(door.reader(workings.limits(), new ProxyConnection(workings, accepted, source, door)));
    }

    public ProxyContext workings() {
        return workings;
    }

    public EventLoopGroup loops() {
        return loops;
    }

    /** The port it listens on. */
    public int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /** How many requests are under way. */
    int openTunnels() {
        return workings.tunnels().count();
    }

    /** Takes no new connections; those that are open stay until their loops end. */
    @Override
    public void close() {
        server.close().syncUninterruptibly();
    }
}
