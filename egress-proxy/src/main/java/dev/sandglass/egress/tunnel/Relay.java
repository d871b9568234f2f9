package dev.sandglass.egress.tunnel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;

/**
 * Passes what one side says on to the other. Reads only while the other side takes it, so that a slow reader slows the
 * writer and fills no memory here. When one side ends its output, the relay passes that on, and the other side may go on.
 */
public final class Relay extends ChannelInboundHandlerAdapter {

    private final Tunnel tunnel;
    private final DuplexChannel other;
    private final boolean upwards;
    private boolean inputDone;

    /**
     * One direction.
     *
     * @param other who hears
     * @param upwards whether from the sandbox to the server
     */
    public Relay(Tunnel tunnel, Channel other, boolean upwards) {
        this.tunnel = tunnel;
        this.other = (DuplexChannel) other;
        this.upwards = upwards;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        tunnel.passed(bytes.readableBytes(), upwards);
        if (tunnel.isOver()) {
            bytes.release();
            return;
        }
        ChannelFutureListener taken = tunnel.direction(upwards).hold(bytes.capacity());
        other.write(bytes).addListener(taken);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        other.flush();
        if (other.isWritable()) {
            context.read();
        }
    }

    /** This side takes bytes again: read what the other has to say. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (context.channel().isWritable()) {
            other.read();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent && !inputDone) {
            inputDone = true;
            // Behind what is still to be written, which a shutdown would throw away.
            other.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(heard -> {
                if (heard.isSuccess() && !other.isOutputShutdown()) {
                    var _ = other.shutdownOutput();
                }
                tunnel.directionDone(upwards);
            });
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        tunnel.end(End.BROKEN);
    }
}
