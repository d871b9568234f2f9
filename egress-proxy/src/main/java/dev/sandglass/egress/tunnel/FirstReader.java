package dev.sandglass.egress.tunnel;

import dev.sandglass.egress.request.ProxyRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Collects the first bytes of a connection until they say what it wants, and keeps what is for the server. */
public abstract class FirstReader extends ChannelInboundHandlerAdapter {

    /** Who goes on with what was read. */
    public interface Reader {
        /** A request, once per connection. */
        void understood(ProxyRequest request);

        /** No request. */
        void refused(Outcome outcome, String why);
    }

    /** What was received and not taken yet. */
    protected final ByteBuf held = Unpooled.buffer();

    private final Duration patience;
    private final String tooSlow;
    private final Reader reader;
    private boolean done;
    private @Nullable ScheduledFuture<?> deadline;

    /**
     * For one connection.
     *
     * @param patience from the connection's begin until it has said what it wants
     * @param tooSlow the refusal's words when that is over
     */
    public FirstReader(Duration patience, String tooSlow, Reader reader) {
        this.patience = patience;
        this.tooSlow = tooSlow;
        this.reader = reader;
    }

    /** More came: calls {@link #understand} or {@link #refuse} once {@link #held} has enough. */
    protected abstract void look();

    protected final void understand(ProxyRequest request) {
        finished();
        reader.understood(request);
    }

    protected final void refuse(Outcome outcome, String why) {
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

    /** What was read already and is for the server, behind the head of a request; the caller releases it. */
    public final ByteBuf rest() {
        return held.readRetainedSlice(held.readableBytes());
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        deadline = context.executor()
                .schedule(() -> refuse(Outcome.HEAD_TOO_SLOW, tooSlow), patience.toNanos(), TimeUnit.NANOSECONDS);
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
        if (!done) {
            look();
        }
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
