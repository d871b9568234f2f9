package dev.sandglass.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;
import reactor.netty.http.server.HttpServer;

/**
 * One connection to the port, from its beginning: how long it may take over a head, what it may send before it is asked, and
 * whether there is room for it. Belongs to the connection's event loop.
 */
public final class ConnectionLimiter extends ChannelInboundHandlerAdapter {

    /** What may come while an answer is made, behind its request: nearly no client sends on without the answer. */
    static final int MOST_AHEAD = 64 * 1024;

    /** How long a body is read on to which the answer is out. */
    private static final long DRAIN_MS = 1000;

    private final Channel channel;
    private final ConnectionTable<ConnectionLimiter> guests;
    private final ConnectionSettings settings;

    private @Nullable Future<?> deadline;
    private boolean between = true;
    private boolean upgraded;
    private int unanswered;
    private long ahead;

    private ConnectionLimiter(Channel channel, ConnectionTable<ConnectionLimiter> guests, ConnectionSettings settings) {
        this.channel = channel;
        this.guests = guests;
        this.settings = settings;
    }

    /** The same server with its connections bounded, apart from those of other servers. */
    public static HttpServer of(HttpServer server, ConnectionSettings settings) {
        var guests = new ConnectionTable<ConnectionLimiter>(settings.maxStrangers(), settings.maxConnections());
        return server.childOption(ChannelOption.RECVBUF_ALLOCATOR, PacedBody.readings())
                .doOnChannelInit((observer, channel, address) -> {
                    var threshold = new ConnectionLimiter(channel, guests, settings);
                    channel.pipeline()
                            .addBefore(NettyPipeline.HttpCodec, "threshold", threshold)
                            .addAfter(NettyPipeline.HttpCodec, "pieces", new ChunkCoalescer())
                            .addAfter(NettyPipeline.HttpCodec, "heads", threshold.new Heads());
                });
    }

    /** Whoever is at the other end of that connection has shown a key or a link that is valid. */
    public static void passed(Channel channel) {
        ConnectionLimiter threshold = channel.pipeline().get(ConnectionLimiter.class);
        if (threshold != null) {
            threshold.guests.known(threshold);
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        await(settings.headTimeout().toMillis());
        guests.came(this).ifPresent(ConnectionLimiter::close);
        context.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        guests.left(this);
        forget();
        context.fireChannelInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!upgraded && message instanceof ByteBuf bytes) {
            if (unanswered > 1 || (unanswered == 1 && between)) {
                ahead += bytes.readableBytes();
            } else if (between && deadline == null) {
                await(settings.headTimeout().toMillis());
            }
            if (ahead > MOST_AHEAD) {
                bytes.release();
                close();
                return;
            }
        }
        context.fireChannelRead(message);
    }

    private void headCame() {
        forget();
        between = false;
        unanswered++;
        guests.busy(this, true);
    }

    private void answered() {
        unanswered = Math.max(0, unanswered - 1);
        ahead = 0;
        if (unanswered == 0) {
            guests.busy(this, false);
            if (!between) {
                await(DRAIN_MS);
            }
        }
    }

    private void bodyEnded() {
        between = true;
        if (unanswered == 0) {
            forget();
        }
    }

    private void await(long millis) {
        forget();
        deadline = channel.eventLoop().schedule(this::close, millis, TimeUnit.MILLISECONDS);
    }

    private void forget() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    private void close() {
        var _ = channel.close();
    }

    /** Behind the decoder of HTTP: sees where requests and answers begin and end. */
    private final class Heads extends ChannelDuplexHandler {

        private boolean isInterim;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof HttpRequest) {
                headCame();
            }
            if (message instanceof LastHttpContent) {
                bodyEnded();
            }
            context.fireChannelRead(message);
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            if (message instanceof HttpResponse response) {
                // Frames follow, which are no heads, and it stays busy until its end.
                upgraded |= response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
                isInterim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            }
            if (message instanceof LastHttpContent && !isInterim) {
                answered();
            }
            var _ = context.write(message, promise);
        }
    }
}
