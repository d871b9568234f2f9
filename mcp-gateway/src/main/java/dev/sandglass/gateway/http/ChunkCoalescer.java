package dev.sandglass.gateway.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * Joins small pieces of a body that came with one reading: whoever sends chunks of one byte would have a kilobyte of them
 * become a hundred kilobytes of objects that wait. Stands behind the decoder of HTTP; for one connection.
 */
public final class ChunkCoalescer extends ChannelInboundHandlerAdapter {

    /** From that size on a piece is passed on as it is. */
    static final int LARGE = 1024;

    private static final int MOST = 8 * LARGE;

    private @Nullable ByteBuf joined;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpContent piece
                && !(message instanceof LastHttpContent)
                && piece.decoderResult().isSuccess()
                && piece.content().readableBytes() < LARGE) {
            join(context, piece);
        } else {
            flush(context);
            context.fireChannelRead(message);
        }
    }

    private void join(ChannelHandlerContext context, HttpContent piece) {
        try {
            if (joined == null) {
                joined = context.alloc().buffer(LARGE, MOST);
            }
            joined.writeBytes(piece.content());
            if (joined.readableBytes() > MOST - LARGE) {
                flush(context);
            }
        } finally {
            piece.release();
        }
    }

    private void flush(ChannelHandlerContext context) {
        ByteBuf whole = joined;
        joined = null;
        if (whole != null) {
            context.fireChannelRead(new DefaultHttpContent(whole));
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        flush(context);
        context.fireChannelReadComplete();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        flush(context);
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (joined != null) {
            joined.release();
            joined = null;
        }
    }
}
