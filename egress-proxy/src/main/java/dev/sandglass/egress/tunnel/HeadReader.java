package dev.sandglass.egress.tunnel;

import dev.sandglass.egress.request.ProxyRequest;
import dev.sandglass.egress.request.Refusal;
import dev.sandglass.egress.request.RequestHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Collects the head of a request, and keeps what comes behind it until somebody wants it. */
final class HeadReader extends FirstReader {

    /** How a head is understood. */
    @FunctionalInterface
    interface Meaning {
        ProxyRequest of(RequestHead head) throws Refusal;
    }

    private static final byte[] END = {'\r', '\n', '\r', '\n'};
    private static final ByteBuf END_BYTES = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(END));

    private final Duration patience;
    private final Meaning meaning;
    private final Reader reader;
    private final ByteBuf held = Unpooled.buffer();
    private int searched;
    private boolean done;
    private @Nullable ScheduledFuture<?> deadline;

    HeadReader(Duration patience, Meaning meaning, Reader reader) {
        this.patience = patience;
        this.meaning = meaning;
        this.reader = reader;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        deadline = context.executor()
                .schedule(
                        () -> refuse(Outcome.HEAD_TOO_SLOW, "the head of the request did not come in time"),
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
        if (done) {
            return;
        }
        int length = headLength();
        if (length > RequestHead.MAX_BYTES || (length < 0 && held.readableBytes() >= RequestHead.MAX_BYTES)) {
            refuse(Outcome.HEAD_TOO_LONG, "the head of a request may have " + RequestHead.MAX_BYTES + " bytes");
        } else if (length >= 0) {
            read(length);
        }
    }

    /** Up to and with the empty line; -1 if it has not come. */
    private int headLength() {
        int most = Math.min(held.readableBytes(), RequestHead.MAX_BYTES + 1);
        for (int i = searched; i + END.length <= most; i++) {
            if (ByteBufUtil.equals(held, i, END_BYTES, 0, END.length)) {
                return i + END.length;
            }
            searched = i;
        }
        return -1;
    }

    private void read(int length) {
        byte[] head = new byte[length];
        held.readBytes(head);
        ProxyRequest request;
        try {
            request = meaning.of(RequestHead.parse(head));
        } catch (Refusal refusal) {
            refuse(Outcome.MALFORMED, refusal.sentence());
            return;
        }
        finished();
        reader.understood(request);
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
