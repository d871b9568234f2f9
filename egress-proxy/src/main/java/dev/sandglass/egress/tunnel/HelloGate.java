package dev.sandglass.egress.tunnel;

import dev.sandglass.api.egress.HostName;
import dev.sandglass.egress.tls.ClientHello;
import dev.sandglass.egress.tls.Peek;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Holds the first bytes of a tunnel back until they turn out to be TLS that asks for the tunnel's own name. */
public final class HelloGate extends ChannelInboundHandlerAdapter {

    private final Tunnel tunnel;
    private final HostName name;
    private final Duration patience;
    private final Runnable passed;
    private final ByteBuf held = Unpooled.buffer();
    private int needed = 1;
    private @Nullable ScheduledFuture<?> deadline;

    /**
     * A gate for one tunnel.
     *
     * @param passed called once, before the bytes held go on
     */
    public HelloGate(Tunnel tunnel, HostName name, Duration patience, Runnable passed) {
        this.tunnel = tunnel;
        this.name = name;
        this.patience = patience;
        this.passed = passed;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        deadline = context.executor()
                .schedule(() -> tunnel.end(End.HELLO_TOO_SLOW), patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (held.refCnt() > 0) {
            held.release();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        try {
            if (tunnel.isOver()) {
                return;
            }
            held.writeBytes(bytes);
        } finally {
            bytes.release();
        }
        if (held.readableBytes() < needed) {
            return;
        }
        switch (ClientHello.peek(ByteBufUtil.getBytes(held))) {
            case Peek.More more -> needed = more.needed();
            case Peek.Named named when named.name().equals(name) -> pass(context);
            case Peek.Named _, Peek.Refused _ -> tunnel.endSaying(Answers.tlsAccessDenied(), End.SERVER_NAME);
        }
    }

    private void pass(ChannelHandlerContext context) {
        passed.run();
        context.fireChannelRead(held.retain());
        context.fireChannelReadComplete();
        context.pipeline().remove(this);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.read();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            tunnel.end(End.CLOSED);
        }
    }
}
