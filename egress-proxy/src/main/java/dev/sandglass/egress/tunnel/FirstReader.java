package dev.sandglass.egress.tunnel;

import dev.sandglass.egress.request.ProxyRequest;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Collects the first bytes of a connection until they say what it wants, and keeps what is for the server. */
abstract class FirstReader extends ChannelInboundHandlerAdapter {

    /** Who goes on with what was read. */
    interface Reader {
        /** A request, once per connection. */
        void understood(ProxyRequest request);

        /** No request. */
        void refused(Outcome outcome, String why);
    }

    /** What was read already and is for the server, behind the head of a request; the caller releases it. */
    abstract ByteBuf rest();
}
