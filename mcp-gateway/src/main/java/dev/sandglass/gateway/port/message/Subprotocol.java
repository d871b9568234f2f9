package dev.sandglass.gateway.port.message;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.ReferenceCountUtil;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The subprotocol of one WebSocket: the client offers some, the sandbox's server chooses one of them or none (RFC 6455,
 * section 4.2.2). Netty's own client takes none for a failure, so it hears nothing of them and the choice is judged
 * here; what none means is for the client to decide.
 */
public final class Subprotocol extends ChannelInboundHandlerAdapter {

    /** Of what a server names, in words about it. */
    private static final int MOST_SHOWN = 64;

    private final List<String> lines;
    private final int port;
    private Optional<String> chosen = Optional.empty();
    private boolean refused;

    /**
     * @param request headers of the client
     * @param port in the sandbox
     */
    public Subprotocol(HttpHeaders request, int port) {
        this.lines = request.getAll(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL);
        this.port = port;
    }

    /** Tells the server what the client offers. */
    public void offer(HttpHeaders to) {
        if (!lines.isEmpty()) {
            to.set(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL, String.join(", ", lines));
        }
    }

    /** Tells the client what the server chose. */
    public void tell(HttpHeaders to) {
        chosen.ifPresent(protocol -> to.set(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL, protocol));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (refused) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (message instanceof HttpResponse answer && answer.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
            Optional<String> fault = judge(answer.headers().getAll(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL));
            if (fault.isPresent()) {
                refused = true;
                ReferenceCountUtil.release(message);
                context.fireExceptionCaught(PortProblem.badGateway(
                        "The server on port %d of the sandbox chose %s.".formatted(port, fault.get())));
                return;
            }
            answer.headers().remove(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL);
        }
        context.fireChannelRead(message);
    }

    /** What is wrong with the choice, if anything. */
    private Optional<String> judge(List<String> named) {
        if (named.size() > 1) {
            return Optional.of(
                    "%d WebSocket subprotocols; it may choose one of those offered, or none".formatted(named.size()));
        }
        chosen = named.stream().map(String::strip).findFirst();
        return chosen.filter(protocol -> offered().noneMatch(protocol::equals))
                .map(protocol ->
                        "the WebSocket subprotocol '%s', which the client did not offer; it may choose one of those"
                                        .formatted(protocol.substring(0, Math.min(protocol.length(), MOST_SHOWN)))
                                + " offered, or none");
    }

    private Stream<String> offered() {
        return lines.stream().flatMap(line -> Stream.of(line.split(","))).map(String::strip);
    }
}
