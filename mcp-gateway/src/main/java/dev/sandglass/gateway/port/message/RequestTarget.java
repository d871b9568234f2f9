package dev.sandglass.gateway.port.message;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.nio.charset.StandardCharsets;

/**
 * Writes what a connection's one request asks for, byte for byte as the caller did. Clients of HTTP take what they ask for for
 * a URI: they refuse brackets and bare percent signs, and encode anew what is encoded, while servers and browsers take all.
 */
public final class RequestTarget extends ChannelOutboundHandlerAdapter {

    /** What the client is told to ask for in its place. */
    public static final String PLACEHOLDER = "/";

    private static final char DELETE = 0x7f;

    private final String target;
    private boolean written;

    /**
     * @param target a character for each byte, as Netty reads it
     */
    RequestTarget(String target) {
        this.target = target;
    }

    /** Whether it can be written into a request: with a space or a line's end in it, what follows would be read otherwise. */
    public static boolean isOne(String target) {
        return target.chars().noneMatch(letter -> letter <= ' ' || letter == DELETE);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        if (written || !(message instanceof ByteBuf head)) {
            var _ = context.write(message, promise);
            return;
        }
        written = true;
        int method = head.bytesBefore((byte) ' ') + 1;
        ByteBuf begin = context.alloc().buffer(method + target.length());
        begin.writeBytes(head, method).writeCharSequence(target, StandardCharsets.ISO_8859_1);
        var _ = context.write(begin, context.voidPromise());
        var _ = context.write(head.skipBytes(PLACEHOLDER.length()), promise);
    }
}
