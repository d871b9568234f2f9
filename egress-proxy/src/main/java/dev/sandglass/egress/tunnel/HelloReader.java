package dev.sandglass.egress.tunnel;

import dev.sandglass.api.egress.Host;
import dev.sandglass.api.egress.Target;
import dev.sandglass.egress.request.ProxyRequest;
import dev.sandglass.egress.tls.ClientHello;
import dev.sandglass.egress.tls.Peek;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Reads whom a connection of TLS is for, of a client that takes the proxy for the server. All of it goes to the server. */
final class HelloReader extends FirstReader {

    private final Duration patience;
    private final int port;
    private final Reader reader;
    private final ByteBuf held = Unpooled.buffer();
    private int needed = 1;
    private boolean done;
    private @Nullable ScheduledFuture<?> deadline;

    /**
     * For one connection.
     *
     * @param port of the servers that this way leads to
     */
    HelloReader(Duration patience, int port, Reader reader) {
        this.patience = patience;
        this.port = port;
        this.reader = reader;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        deadline = context.executor()
                .schedule(
                        () -> refuse(Outcome.HEAD_TOO_SLOW, "the first message of TLS did not come in time"),
                        patience.toNanos(),
                        TimeUnit.NANOSECONDS);
        context.read();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        held.release();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        try {
            held.writeBytes(bytes);
        } finally {
            bytes.release();
        }
        if (done || held.readableBytes() < needed) {
            return;
        }
        switch (ClientHello.peek(ByteBufUtil.getBytes(held))) {
            case Peek.More more -> needed = more.needed();
            case Peek.Named named -> {
                finished();
                reader.understood(new ProxyRequest.Direct(new Target(new Host.Name(named.name()), port)));
            }
            case Peek.Refused refused -> refuse(Outcome.MALFORMED, refused.why());
        }
    }

    private void refuse(Outcome outcome, String why) {
        if (!done) {
            finished();
            reader.refused(outcome, why);
        }
    }

    private void finished() {
        done = true;
        if (deadline != null) {
            deadline.cancel(false);
        }
    }

    @Override
    ByteBuf rest() {
        return held.readRetainedSlice(held.readableBytes());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (!done) {
            context.read();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        finished();
        context.fireChannelInactive();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent && !done) {
            finished();
            var _ = context.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        var _ = context.close();
    }
}
