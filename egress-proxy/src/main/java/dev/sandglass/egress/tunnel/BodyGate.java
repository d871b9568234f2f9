package dev.sandglass.egress.tunnel;

import dev.sandglass.egress.request.BodyEnd;
import dev.sandglass.egress.request.BodyLength;
import dev.sandglass.egress.request.Refusal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Lets a request's body through and drops what comes behind it: that would be a request without a verdict. */
public final class BodyGate extends ChannelInboundHandlerAdapter {

    private final Tunnel tunnel;
    private final BodyEnd end;

    public BodyGate(Tunnel tunnel, BodyLength length) {
        this.tunnel = tunnel;
        this.end = new BodyEnd(length);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        try {
            int count = end.accept(ByteBufUtil.getBytes(bytes));
            if (count > 0) {
                context.fireChannelRead(bytes.readRetainedSlice(count));
            }
        } catch (Refusal malformed) {
            tunnel.end(End.MALFORMED);
        } finally {
            bytes.release();
        }
    }
}
