package dev.sandglass.gateway.websocket;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrameDecoder;
import io.netty.util.concurrent.Future;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Stands before the decoder of frames on one side of a WebSocket and counts every byte from its arrival until the other side
 * has taken its frame; what finds no room in the budget, or does not become a whole frame in time, is refused. Frames come
 * to the decoder one at a time, and only when they are asked for: it gathers one and keeps no rest of another, and none of
 * many small ones becomes an object before its turn. Belongs to the event loop of its side, but for {@link #passed}.
 */
final class FrameGate extends ChannelDuplexHandler {

    /** What a frame costs besides its content, about, so that empty ones are not free. */
    static final int OVERHEAD = 64;

    private final FrameBudget.Share share;
    private final SocketSettings settings;
    private final Consumer<WebSocketCloseStatus> refusal;

    private ByteBuf held = Unpooled.EMPTY_BUFFER;
    private @Nullable FrameHead head;
    private @Nullable Future<?> deadline;
    private long rest;
    private boolean wanted = true;
    private boolean passing;
    private boolean over;

    private FrameGate(FrameBudget.Share share, SocketSettings settings, Consumer<WebSocketCloseStatus> refusal) {
        this.share = share;
        this.settings = settings;
        this.refusal = refusal;
    }

    /** Whose bytes are counted, and how many may be. */
    record Bounds(FrameBudget budget, RunningSandbox sandbox, SocketSettings settings) {}

    /**
     * Puts a gate before a decoder that has read nothing yet.
     *
     * @param from where frames come from
     * @param to where they go: what is held for it is held until it is closed
     * @param refusal hears once how both sides are to be closed
     */
    static FrameGate put(Channel from, Channel to, Bounds bounds, Consumer<WebSocketCloseStatus> refusal) {
        FrameBudget.Share share = bounds.budget().share(bounds.sandbox());
        var gate = new FrameGate(share, bounds.settings(), refusal);
        from.pipeline()
                .addBefore(from.pipeline().context(WebSocketFrameDecoder.class).name(), "frame-gate", gate);
        var open = new AtomicInteger(2);
        for (Channel side : new Channel[] {from, to}) {
            side.closeFuture().addListener(_ -> {
                if (open.decrementAndGet() == 0) {
                    share.end();
                }
            });
        }
        return gate;
    }

    /** The other side has taken a frame with so much content. */
    void passed(int payload) {
        share.give(payload + (long) OVERHEAD);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!(message instanceof ByteBuf bytes)) {
            context.fireChannelRead(message);
        } else if (over || !take(bytes.readableBytes())) {
            bytes.release();
        } else {
            held = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), held, bytes);
            pass(context);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.fireChannelReadComplete();
        if (over || (wanted && !context.channel().config().isAutoRead())) {
            context.read();
        }
    }

    @Override
    public void read(ChannelHandlerContext context) {
        wanted = true;
        pass(context);
        if (!passing && wanted) {
            context.read();
        }
    }

    /** Frames that are whole can still be taken; what is not never will be. */
    @Override
    public void channelInactive(ChannelHandlerContext context) {
        while (!over && held.isReadable() && step(context)) {
            // The next one.
        }
        FrameHead unfinished = head;
        share.give(held.readableBytes() + (unfinished == null ? 0 : unfinished.whole() - rest));
        drop();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        drop();
    }

    private void pass(ChannelHandlerContext context) {
        if (passing) {
            return;
        }
        passing = true;
        while (!over
                && held.isReadable()
                && (wanted || context.channel().config().isAutoRead())
                && step(context)) {
            // The next one.
        }
        passing = false;
        if (!held.isReadable()) {
            held.release();
            held = Unpooled.EMPTY_BUFFER;
        }
    }

    /** Passes on what there is of one frame; false if more of it has to come. */
    private boolean step(ChannelHandlerContext context) {
        FrameHead frame = begun(context);
        if (frame == null) {
            return false;
        }
        int count = (int) Math.min(rest, held.readableBytes());
        rest -= count;
        if (rest > 0) {
            // A small piece must not keep the memory of a large read.
            context.fireChannelRead(
                    count < held.capacity() / 2
                            ? context.alloc().buffer(count).writeBytes(held, count)
                            : held.readRetainedSlice(count));
            return false;
        }
        if (!ended(frame)) {
            return false;
        }
        context.fireChannelRead(held.readRetainedSlice(count));
        context.fireChannelReadComplete();
        return true;
    }

    /** The frame under way; null if its head is not whole, or not to be taken. */
    private @Nullable FrameHead begun(ChannelHandlerContext context) {
        if (head != null) {
            return head;
        }
        if (deadline == null) {
            deadline = context.executor()
                    .schedule(this::tooSlow, settings.frameTimeout().toMillis(), TimeUnit.MILLISECONDS);
        }
        FrameHead read = FrameHead.read(held);
        if (read == null) {
            return null;
        }
        if (read.payload() < 0 || read.payload() > settings.maxFrameBytes()) {
            refuse(
                    WebSocketCloseStatus.MESSAGE_TOO_BIG,
                    "A frame may have %d bytes. Send smaller ones.".formatted(settings.maxFrameBytes()));
            return null;
        }
        head = read;
        rest = read.whole();
        return read;
    }

    /** Counts a whole frame for what it costs until it is taken; false if there is no room for that. */
    private boolean ended(FrameHead frame) {
        head = null;
        wanted = false;
        forgetDeadline();
        // Closings are answered and not passed on by us, and nothing counts behind them.
        over = frame.isClose();
        long cost = frame.isClose() ? 0 : frame.payload() + OVERHEAD;
        share.give(Math.max(0, frame.whole() - cost));
        return take(Math.max(0, cost - frame.whole()));
    }

    private boolean take(long bytes) {
        Optional<String> full = share.take(bytes);
        full.ifPresent(reason -> refuse(WebSocketCloseStatus.TRY_AGAIN_LATER, reason));
        return full.isEmpty();
    }

    private void tooSlow() {
        refuse(
                WebSocketCloseStatus.POLICY_VIOLATION,
                "A frame must be whole within %d s. Send smaller ones."
                        .formatted(settings.frameTimeout().toSeconds()));
    }

    private void refuse(WebSocketCloseStatus status, String reason) {
        if (!over) {
            over = true;
            share.give(held.readableBytes());
            drop();
            refusal.accept(new WebSocketCloseStatus(status.code(), reason));
        }
    }

    private void drop() {
        forgetDeadline();
        held.release();
        held = Unpooled.EMPTY_BUFFER;
    }

    private void forgetDeadline() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }
}
