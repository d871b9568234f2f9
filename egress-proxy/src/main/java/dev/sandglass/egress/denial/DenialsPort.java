package dev.sandglass.egress.denial;

import dev.sandglass.api.egress.EgressSecret;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * {@code GET /denials} on a port of its own: an answer without end, one line of JSON for each {@link Unreached} from
 * now on, and an empty line now and then so that both sides notice when the other is gone. Nothing is kept for those
 * who come later, and a reader that is too slow is dropped: a tunnel never waits for a reader.
 */
public final class DenialsPort implements Consumer<Unreached>, AutoCloseable {

    /** Most connections at a time. */
    static final int MAX_CONNECTIONS = 64;

    /** Most bytes that wait for one reader. */
    static final int MAX_WAITING = 256 * 1024;

    private static final Duration HEAD = Duration.ofSeconds(10);

    private final EgressSecret secret;
    private final Duration heartbeat;
    private final Set<Channel> readers = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private final Channel server;

    /**
     * Starts listening.
     *
     * @param address where; port 0 for any
     * @param loops carry all connections; their creator closes them
     * @param heartbeat between empty lines
     */
    public DenialsPort(InetSocketAddress address, EgressSecret secret, EventLoopGroup loops, Duration heartbeat)
            throws InterruptedException {
        this.secret = secret;
        this.heartbeat = heartbeat;
        this.server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(MAX_WAITING / 2, MAX_WAITING))
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel accepted) {
                        accept(accepted);
                    }
                })
                .bind(address)
                .sync()
                .channel();
    }

    private void accept(SocketChannel accepted) {
        accepted.closeFuture().addListener(closed -> {
            readers.remove(accepted);
            connections.decrementAndGet();
        });
        if (connections.incrementAndGet() > MAX_CONNECTIONS) {
            var _ = accepted.close();
            return;
        }
        accepted.pipeline().addLast(new DenialsRequest(secret, HEAD, heartbeat, () -> readers.add(accepted)));
    }

    /** Tells all readers; by any thread, and without waiting. */
    @Override
    public void accept(Unreached target) {
        if (readers.isEmpty()) {
            return;
        }
        byte[] line = target.line().getBytes(StandardCharsets.UTF_8);
        for (Channel reader : readers) {
            if (reader.isWritable()) {
                var _ = reader.writeAndFlush(Unpooled.wrappedBuffer(line));
            } else {
                var _ = reader.close();
            }
        }
    }

    /** The port it listens on. */
    public int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /** How many read. */
    public int readers() {
        return readers.size();
    }

    @Override
    public void close() {
        server.close().syncUninterruptibly();
        for (Channel reader : readers) {
            var _ = reader.close();
        }
    }
}
