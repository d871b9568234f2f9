package dev.sandglass.gateway.http;

import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Closes a connection whose other side may still be sending. Not at once: to close while bytes arrive would have the other
 * system throw our last answer away. What comes is read and dropped until the other side has understood, or a second is over.
 */
public final class LingeringClose extends ChannelDuplexHandler {

    private static final long PATIENCE_MS = 1000;

    private boolean said;

    private LingeringClose() {}

    /** Has the next closing of a connection wait for the other side; to be called on its event loop. */
    public static void before(Channel channel) {
        if (channel.pipeline().get(LingeringClose.class) == null) {
            channel.pipeline().addFirst(new LingeringClose());
        }
    }

    /**
     * Ends the connection after an answer that has not begun yet, if the request has a body, which may not all have come: it
     * is not to be read for ever.
     */
    public static void unlessRead(HttpServerRequest request, HttpServerResponse response) {
        HttpHeaders headers = request.requestHeaders();
        if (response.hasSentHeaders()
                || !(headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
                        || headers.contains(HttpHeaderNames.CONTENT_LENGTH))
                || "0".equals(headers.get(HttpHeaderNames.CONTENT_LENGTH))) {
            return;
        }
        response.keepAlive(false);
        request.withConnection(connection -> before(connection.channel()));
    }

    @Override
    public void close(ChannelHandlerContext context, ChannelPromise promise) {
        if (said || !context.channel().isActive() || !(context.channel() instanceof DuplexChannel duplex)) {
            var _ = context.close(promise);
            return;
        }
        said = true;
        var _ = duplex.shutdownOutput();
        Future<?> later = context.executor()
                .schedule(
                        () -> {
                            var _ = context.close();
                        },
                        PATIENCE_MS,
                        TimeUnit.MILLISECONDS);
        // Else everything of this connection stays in memory until then.
        context.channel().closeFuture().addListener(closed -> {
            later.cancel(false);
            promise.trySuccess();
        });
        context.read();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (said) {
            ReferenceCountUtil.release(message);
        } else {
            context.fireChannelRead(message);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (said) {
            context.read();
        } else {
            context.fireChannelReadComplete();
        }
    }
}
