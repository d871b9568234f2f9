package dev.sandglass.gateway.port;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.WebsocketClientSpec;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.WebsocketServerSpec;
import reactor.netty.http.websocket.WebsocketInbound;
import reactor.netty.http.websocket.WebsocketOutbound;

/**
 * Passes a WebSocket on: first the sandbox accepts, then the client is told so. Frames go one by one, each when the one
 * before was taken; pings and closings go through.
 */
final class SocketProxy {

    private static final int MAX_FRAME_BYTES = 4 * 1024 * 1024;
    private static final int NO_STATUS = 1005;

    private final HttpClient client;

    SocketProxy(HttpClient client) {
        this.client = client;
    }

    Mono<Void> pass(Visit visit, HttpServerRequest request, HttpServerResponse response) {
        return client.headers(headers -> write(request.requestHeaders(), visit, headers.clear()))
                .remoteAddress(visit::address)
                .doOnConnected(visit::connected)
                .websocket(offered(request.requestHeaders().get(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL)))
                .uri(visit.path().rest())
                .handle((pod, toPod) -> accepted(visit, response, pod, toPod))
                .then();
    }

    /** The client's side of a socket that is open on both. */
    private record Client(WebsocketInbound in, WebsocketOutbound out) {}

    /**
     * Tells the client, and passes on until one side has ended. The server lets go of its handler as soon as the client
     * closes, when the pod has still to be told; so the passing on is not its handler but follows it.
     */
    private static Mono<Void> accepted(
            Visit visit, HttpServerResponse response, WebsocketInbound pod, WebsocketOutbound toPod) {
        Sinks.One<Client> opened = Sinks.one();
        Sinks.Empty<Void> ended = Sinks.empty();
        return response.sendWebsocket(
                        (in, out) -> {
                            opened.tryEmitValue(new Client(in, out));
                            // Even if all is cancelled with the client's connection, the pod hears how it ended.
                            visit.upstream().replace(() -> closing(in, toPod).subscribe());
                            return ended.asMono();
                        },
                        chosen(toPod.selectedSubprotocol()))
                .then(opened.asMono())
                .flatMap(client -> Mono.firstWithSignal(
                        one(pod, client.out(), visit.traffic()), one(client.in(), toPod, visit.traffic())))
                .doFinally(_ -> ended.tryEmitEmpty());
    }

    private static void write(HttpHeaders from, Visit visit, HttpHeaders to) {
        InwardHeaders.write(from, visit.way(), to);
        // Servers compare it with the host; who may come in was decided here.
        to.set(HttpHeaderNames.ORIGIN, "http://" + to.get(HttpHeaderNames.HOST));
    }

    /** One direction, until its source has ended and its sink was told. */
    private static Mono<Void> one(WebsocketInbound from, WebsocketOutbound to, Traffic traffic) {
        return from.receiveFrames()
                .map(WebSocketFrame::retain)
                .concatMap(frame -> passed(frame, to, traffic), 1)
                .doOnDiscard(ReferenceCounted.class, ReferenceCountUtil::safeRelease)
                // Whether its source ended well or broke, the sink is told so.
                .onErrorComplete()
                .then(closing(from, to));
    }

    private static Mono<Void> closing(WebsocketInbound from, WebsocketOutbound to) {
        return from.receiveCloseStatus()
                .defaultIfEmpty(WebSocketCloseStatus.EMPTY)
                .flatMap(status -> close(to, status))
                .onErrorComplete();
    }

    private static Mono<Void> passed(WebSocketFrame frame, WebsocketOutbound to, Traffic traffic) {
        traffic.moved(1 + frame.content().readableBytes());
        return to.sendObject(frame).then();
    }

    private static Mono<Void> close(WebsocketOutbound to, WebSocketCloseStatus status) {
        if (status.code() == NO_STATUS) {
            return to.sendClose();
        }
        return WebSocketCloseStatus.isValidStatusCode(status.code())
                ? to.sendClose(status.code(), status.reasonText())
                : to.sendClose(WebSocketCloseStatus.ENDPOINT_UNAVAILABLE.code(), "the other side went away");
    }

    private static WebsocketClientSpec offered(@Nullable String protocols) {
        var spec = WebsocketClientSpec.builder().handlePing(true).maxFramePayloadLength(MAX_FRAME_BYTES);
        return (protocols == null ? spec : spec.protocols(protocols)).build();
    }

    private static WebsocketServerSpec chosen(@Nullable String protocol) {
        var spec = WebsocketServerSpec.builder().handlePing(true).maxFramePayloadLength(MAX_FRAME_BYTES);
        return (protocol == null ? spec : spec.protocols(protocol)).build();
    }
}
