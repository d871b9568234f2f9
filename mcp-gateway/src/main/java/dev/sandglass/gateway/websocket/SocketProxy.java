package dev.sandglass.gateway.websocket;

import dev.sandglass.gateway.http.LingeringClose;
import dev.sandglass.gateway.port.message.InwardHeaders;
import dev.sandglass.gateway.port.message.ProxiedRequest;
import dev.sandglass.gateway.port.message.RequestTarget;
import dev.sandglass.gateway.port.message.Subprotocol;
import dev.sandglass.gateway.port.message.Traffic;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
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
 * before was taken; pings and closings go through. What is on its way is bounded.
 */
public final class SocketProxy {

    /** How long a side that is to be closed may take to read why. */
    private static final Duration LAST_WORD = Duration.ofSeconds(1);

    private static final int NO_STATUS = 1005;

    private final HttpClient client;
    private final SocketSettings settings;
    private final FrameBudget frames;
    private final WebsocketClientSpec toPods;
    private final WebsocketServerSpec toClients;

    public SocketProxy(HttpClient client, SocketSettings settings) {
        this.client = client;
        this.settings = settings;
        this.frames = new FrameBudget(settings);
        // Neither knows of subprotocols, which are our own to judge.
        this.toPods = WebsocketClientSpec.builder()
                .handlePing(true)
                .maxFramePayloadLength(settings.maxFrameBytes())
                .build();
        this.toClients = WebsocketServerSpec.builder()
                .handlePing(true)
                .maxFramePayloadLength(settings.maxFrameBytes())
                .build();
    }

    /** What frames under way hold. */
    public FrameBudget frames() {
        return frames;
    }

    public Mono<Void> pass(ProxiedRequest visit, HttpServerRequest request, HttpServerResponse response) {
        var protocol = new Subprotocol(request.requestHeaders(), visit.path().port());
        return client.headers(headers -> write(request.requestHeaders(), visit, headers.clear(), protocol))
                .remoteAddress(visit::address)
                .doOnConnected(connection -> {
                    visit.connected(connection);
                    connection.addHandlerFirst(protocol);
                })
                .websocket(toPods)
                .uri(RequestTarget.PLACEHOLDER)
                .handle((pod, toPod) -> {
                    protocol.tell(response.responseHeaders());
                    return accepted(visit, response, pod, toPod);
                })
                .then();
    }

    /** One side of a socket that is open, and the gate that its frames come through. */
    private record Side(WebsocketInbound in, WebsocketOutbound out, FrameGate gate) {

        Channel channel() {
            return channelOf(in);
        }
    }

    /**
     * Tells the client, and passes on until one side has ended. The server lets go of its handler as soon as the client
     * closes, when the pod has still to be told; so the passing on is not its handler but follows it.
     */
    private Mono<Void> accepted(
            ProxiedRequest visit, HttpServerResponse response, WebsocketInbound in, WebsocketOutbound out) {
        Sinks.One<Side> opened = Sinks.one();
        Sinks.One<WebSocketCloseStatus> refused = Sinks.one();
        Sinks.Empty<Void> ended = Sinks.empty();
        Channel[] client = new Channel[1];
        response.withConnection(connection -> client[0] = connection.channel());
        var bounds = new FrameGate.Bounds(frames, visit.sandbox(), settings);
        // At once: the decoder gets its first bytes when this thread has done with the answer's head.
        var pod = new Side(in, out, FrameGate.put(channelOf(in), client[0], bounds, refused::tryEmitValue));
        // Beside what is passed on, which ends with the channels: to cancel it would have closings of its own sent
        // first.
        var _ = opened.asMono().then(refused.asMono()).subscribe(status -> {
            LingeringClose.before(client[0]);
            end(client[0], status);
            end(pod.channel(), status);
        });
        return response.sendWebsocket(
                        (fromClient, toClient) -> {
                            var gate = FrameGate.put(client[0], pod.channel(), bounds, refused::tryEmitValue);
                            opened.tryEmitValue(new Side(fromClient, toClient, gate));
                            // Even if all is cancelled with the client's connection, the pod hears how it ended.
                            visit.upstream()
                                    .replace(() -> closing(fromClient, out).subscribe());
                            return ended.asMono();
                        },
                        toClients)
                .then(opened.asMono())
                .flatMap(side ->
                        Mono.firstWithSignal(one(pod, side.out(), visit.traffic()), one(side, out, visit.traffic())))
                .doFinally(_ -> ended.tryEmitEmpty());
    }

    private static Channel channelOf(WebsocketInbound in) {
        Channel[] channel = new Channel[1];
        in.withConnection(connection -> channel[0] = connection.channel());
        return channel[0];
    }

    /** Tells a side why it ends, and waits no longer than that: a reader that stands still holds what it was sent. */
    private static void end(Channel side, WebSocketCloseStatus status) {
        side.writeAndFlush(new CloseWebSocketFrame(status)).addListener(ChannelFutureListener.CLOSE);
        Future<?> later = side.eventLoop()
                .schedule(
                        () -> {
                            var _ = side.close();
                        },
                        LAST_WORD.toMillis(),
                        TimeUnit.MILLISECONDS);
        side.closeFuture().addListener(closed -> later.cancel(false));
    }

    private static void write(HttpHeaders from, ProxiedRequest visit, HttpHeaders to, Subprotocol protocol) {
        InwardHeaders.write(from, visit.way(), to);
        protocol.offer(to);
        // Servers compare it with the host, some with the forwarded one; who may come in was decided here.
        to.set(HttpHeaderNames.ORIGIN, "http://" + to.get(HttpHeaderNames.HOST));
        to.remove("X-Forwarded-Host");
    }

    /** One direction, until its source has ended and its sink was told. */
    private static Mono<Void> one(Side from, WebsocketOutbound to, Traffic traffic) {
        return from.in()
                .receiveFrames()
                .map(WebSocketFrame::retain)
                // None is asked for before the one before it was taken.
                .concatMap(frame -> passed(frame, from.gate(), to, traffic), 0)
                .doOnDiscard(ReferenceCounted.class, ReferenceCountUtil::safeRelease)
                // Whether its source ended well or broke, the sink is told so.
                .onErrorComplete()
                .then(closing(from.in(), to));
    }

    private static Mono<Void> closing(WebsocketInbound from, WebsocketOutbound to) {
        return from.receiveCloseStatus()
                .defaultIfEmpty(WebSocketCloseStatus.EMPTY)
                .flatMap(status -> close(to, status))
                .onErrorComplete();
    }

    private static Mono<Void> passed(WebSocketFrame frame, FrameGate gate, WebsocketOutbound to, Traffic traffic) {
        int bytes = frame.content().readableBytes();
        traffic.moved(1 + bytes);
        // Not when it is given up: then it is held until its sink is closed.
        return to.sendObject(frame).then().doOnTerminate(() -> gate.passed(bytes));
    }

    private static Mono<Void> close(WebsocketOutbound to, WebSocketCloseStatus status) {
        if (status.code() == NO_STATUS) {
            return to.sendClose();
        }
        return WebSocketCloseStatus.isValidStatusCode(status.code())
                ? to.sendClose(status.code(), status.reasonText())
                : to.sendClose(WebSocketCloseStatus.ENDPOINT_UNAVAILABLE.code(), "the other side went away");
    }
}
