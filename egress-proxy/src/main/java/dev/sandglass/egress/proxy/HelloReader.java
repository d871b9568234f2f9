package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.Host;
import dev.sandglass.api.egress.Target;
import dev.sandglass.egress.request.ProxyRequest;
import dev.sandglass.egress.tls.ClientHello;
import dev.sandglass.egress.tls.Peek;
import dev.sandglass.egress.tunnel.FirstReader;
import dev.sandglass.egress.tunnel.Outcome;
import io.netty.buffer.ByteBufUtil;
import java.time.Duration;

/** Reads whom a connection of TLS is for, of a client that takes the proxy for the server. All of it goes to the server. */
final class HelloReader extends FirstReader {

    private final int port;
    private int needed = 1;

    /**
     * For one connection.
     *
     * @param port of the servers that this way leads to
     */
    HelloReader(Duration patience, int port, Reader reader) {
        super(patience, "the first message of TLS did not come in time", reader);
        this.port = port;
    }

    @Override
    protected void look() {
        if (held.readableBytes() < needed) {
            return;
        }
        switch (ClientHello.peek(ByteBufUtil.getBytes(held))) {
            case Peek.More more -> needed = more.needed();
            case Peek.Named named -> understand(new ProxyRequest.Direct(new Target(new Host.Name(named.name()), port)));
            case Peek.Refused refused -> refuse(Outcome.MALFORMED, refused.why());
        }
    }
}
