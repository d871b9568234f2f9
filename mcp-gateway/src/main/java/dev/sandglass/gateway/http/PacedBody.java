package dev.sandglass.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Has a body that is passed on come no faster than it is taken. Reactor Netty asks for 128 pieces ahead of the slowest reader;
 * here none is asked for before the system has taken nearly all of those before it. Belongs to the event loop of the channel
 * that the body goes to.
 */
public final class PacedBody extends ChannelInboundHandlerAdapter {

    private static final int READING = 16 * 1024;
    private static final int PIECE = 64 * 1024;

    /** How many bytes wait for the system at which no more are asked for, and how few when they are again. */
    private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(READING / 2, READING);

    private final Channel to;
    private final WriteBufferWaterMark before;
    private @Nullable MonoSink<Void> waiting;

    private PacedBody(Channel to) {
        this.to = to;
        this.before = to.config().getWriteBufferWaterMark();
        to.config().setWriteBufferWaterMark(WAITING);
        to.pipeline().addFirst(this);
    }

    /** How a connection is read from which bodies come: so much, and no more before that was asked for again. */
    public static RecvByteBufAllocator readings() {
        return new AdaptiveRecvByteBufAllocator(64, 2048, READING).maxMessagesPerRead(1);
    }

    /**
     * The same body at the pace of whoever reads it.
     *
     * @param body from a connection that is read by {@link #readings}
     * @param to where all of it is written as it comes
     */
    public static Flux<ByteBuf> of(Flux<ByteBuf> body, Channel to) {
        return Flux.using(
                () -> new PacedBody(to),
                pace -> body.concatMap(piece -> Flux.concat(Mono.just(piece), pace.room()), 0)
                        .doOnDiscard(ReferenceCounted.class, ReferenceCountUtil::safeRelease),
                PacedBody::end);
    }

    /** Bytes that this process holds, a piece at a time: the copy that goes to the system is never the whole of them. */
    public static Flux<ByteBuf> of(byte[] bytes, Channel to) {
        int pieces = Math.ceilDiv(bytes.length, PIECE);
        return of(Flux.range(0, pieces).map(i -> piece(bytes, i * PIECE)), to);
    }

    private static ByteBuf piece(byte[] bytes, int from) {
        return Unpooled.wrappedBuffer(bytes, from, Math.min(PIECE, bytes.length - from));
    }

    /** Before anybody hears of the end, which may be the beginning of the next body on the same connection. */
    private void end() {
        to.config().setWriteBufferWaterMark(before);
        to.eventLoop().execute(() -> {
            if (to.pipeline().context(this) != null) {
                to.pipeline().remove(this);
            }
        });
    }

    /** Ends when there is room, or nobody to wait for. Behind what was written: the loop does one after the other. */
    private Mono<ByteBuf> room() {
        return Mono.<Void>create(sink -> to.eventLoop().execute(() -> {
                    if (to.isWritable() || !to.isActive()) {
                        sink.success();
                    } else {
                        waiting = sink;
                    }
                }))
                .cast(ByteBuf.class);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (context.channel().isWritable()) {
            goOn();
        }
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        goOn();
        context.fireChannelInactive();
    }

    private void goOn() {
        MonoSink<Void> sink = waiting;
        waiting = null;
        if (sink != null) {
            sink.success();
        }
    }
}
