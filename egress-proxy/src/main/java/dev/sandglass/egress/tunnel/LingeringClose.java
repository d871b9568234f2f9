package dev.sandglass.egress.tunnel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Answers and closes. Not at once: to close while the client still sends would have its system throw our answer away, so
 * what it sends is read and dropped until it has understood, or a second is over.
 */
public final class LingeringClose extends ChannelInboundHandlerAdapter {

    private static final long PATIENCE_MS = 1000;

    private LingeringClose() {}

    public static void say(Channel channel, ByteBuf answer) {
        // It would go on collecting.
        FirstReader reader = channel.pipeline().get(FirstReader.class);
        if (reader != null) {
            channel.pipeline().remove(reader);
        }
        channel.pipeline().addLast(new LingeringClose());
        channel.writeAndFlush(answer).addListener(said -> {
            if (said.isSuccess()) {
                DuplexChannel duplex = (DuplexChannel) channel;
                if (!duplex.isOutputShutdown()) {
                    var _ = duplex.shutdownOutput();
                }
                channel.read();
                closeLater(channel);
            } else {
                var _ = channel.close();
            }
        });
    }

    private static void closeLater(Channel channel) {
        Future<?> later = channel.eventLoop()
                .schedule(
                        () -> {
                            var _ = channel.close();
                        },
                        PATIENCE_MS,
                        TimeUnit.MILLISECONDS);
        // Else everything of this connection stays in memory until then.
        channel.closeFuture().addListener(closed -> later.cancel(false));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ReferenceCountUtil.release(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.read();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            var _ = context.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        var _ = context.close();
    }
}
