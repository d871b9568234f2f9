package dev.sandglass.egress.proxy;

import dev.sandglass.api.egress.Target;
import dev.sandglass.egress.client.Client;
import dev.sandglass.egress.request.ProxyRequest;
import dev.sandglass.egress.tunnel.Answers;
import dev.sandglass.egress.tunnel.FirstReader;
import dev.sandglass.egress.tunnel.Limits;
import dev.sandglass.egress.tunnel.Outcome;
import io.netty.buffer.ByteBuf;

/** Where a connection comes in: how it names its target, and how the proxy answers that it cannot go there. */
public sealed interface Door {

    /** The proxy's own port, for clients that know they speak to a proxy. */
    record Proxy() implements Door {}

    /** Plain HTTP for clients that take the proxy for the server on that port. */
    record Plain(int port) implements Door {}

    /** TLS for clients that take the proxy for the server on that port. */
    record Tls(int port) implements Door {}

    /** What reads the first bytes. */
    default FirstReader reader(Limits limits, FirstReader.Reader next) {
        return switch (this) {
            case Proxy _ -> new HeadReader(limits.head(), ProxyRequest::of, next);
            case Plain plain -> new HeadReader(limits.head(), head -> ProxyRequest.direct(head, plain.port()), next);
            case Tls tls -> new HelloReader(limits.hello(), tls.port(), next);
        };
    }

    /** That a request is refused of which no more is known. */
    default ByteBuf refusal(Outcome outcome, String why) {
        return this instanceof Tls ? Answers.tlsAccessDenied() : Answers.refusal(outcome, why);
    }

    /** That a target is refused. */
    default ByteBuf refusal(Outcome outcome, Client client, Target target, String why) {
        return this instanceof Tls ? Answers.tlsAccessDenied() : Answers.refusal(outcome, client, target, why);
    }
}
