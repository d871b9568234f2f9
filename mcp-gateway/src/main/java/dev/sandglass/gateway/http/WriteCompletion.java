package dev.sandglass.gateway.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** When what was written to a connection is no longer kept by this process. */
public final class WriteCompletion {

    private WriteCompletion() {}

    /**
     * Ends when the system has taken all that was written so far, or never will. Reactor Netty says of an answer in one piece
     * that it is sent as soon as it is queued.
     */
    public static Mono<Void> all(Channel channel) {
        return Mono.create(sink -> {
            if (channel.eventLoop().inEventLoop()) {
                follow(channel, sink);
            } else {
                channel.eventLoop().execute(() -> follow(channel, sink));
            }
        });
    }

    /** Nothing is written behind all else, past the handlers of HTTP, which would have it belong to an answer. */
    private static void follow(Channel channel, MonoSink<Void> sink) {
        ChannelHandlerContext first = channel.pipeline().firstContext();
        if (first == null) {
            sink.success();
        } else {
            first.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(_ -> sink.success());
        }
    }
}
