package dev.sandglass.gateway.port.message;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;

/**
 * Takes out what a server says before its answer (100, 102, 103; RFC 9110, section 15.2). Reactor Netty takes all but 100 for
 * the answer itself, and a client would be left with it. Nobody asked for them: what expects a 100 is not passed in. For one
 * connection.
 */
public final class InterimAnswers extends ChannelInboundHandlerAdapter {

    /** The most before one answer; a server could say so for ever. */
    static final int MOST = 16;

    private final int port;
    private int count;
    private boolean inside;

    /**
     * @param port in the sandbox
     */
    InterimAnswers(int port) {
        this.port = port;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        boolean isNext = message instanceof HttpResponse answer && isInterim(answer);
        if (!isNext && !(inside && message instanceof HttpContent)) {
            context.fireChannelRead(message);
            return;
        }
        inside = !(message instanceof LastHttpContent);
        ReferenceCountUtil.release(message);
        if (isNext) {
            count++;
        }
        if (count <= MOST) {
            context.read();
        } else if (isNext && count == MOST + 1) {
            context.fireExceptionCaught(PortProblem.badGateway(
                    "The server on port %d of the sandbox said more than %d times that its answer is still to come."
                            .formatted(port, MOST)));
        }
    }

    private static boolean isInterim(HttpResponse answer) {
        return answer.decoderResult().isSuccess()
                && answer.status().codeClass() == HttpStatusClass.INFORMATIONAL
                && answer.status().code() != HttpResponseStatus.SWITCHING_PROTOCOLS.code();
    }
}
