package dev.sandglass.gateway.port;

import dev.sandglass.gateway.http.PacedBody;
import dev.sandglass.gateway.port.message.InwardHeaders;
import dev.sandglass.gateway.port.message.OutwardHeaders;
import dev.sandglass.gateway.port.message.PortProblem;
import dev.sandglass.gateway.port.message.ProxiedRequest;
import dev.sandglass.gateway.port.message.RequestTarget;
import dev.sandglass.gateway.port.message.UnfitAnswers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.resolver.DefaultAddressResolverGroup;
import java.io.IOException;
import java.util.Optional;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.NettyOutbound;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientResponse;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/**
 * Passes HTTP on to a sandbox's port and its answer back, piece by piece as each side takes them. Every request has a
 * connection of its own: what one caller's request leaves behind on a connection must never be another's answer.
 */
final class PortProxy {

    /** Of an answer. */
    static final int MAX_HEADER_BYTES = 32 * 1024;

    private static final int BUFFER = 256 * 1024;

    private final HttpClient client;

    PortProxy(LoopResources loops, PortSettings settings) {
        this.client = HttpClient.create(ConnectionProvider.newConnection())
                .runOn(loops)
                // Addresses are literal, nothing is looked up.
                .resolver(DefaultAddressResolverGroup.INSTANCE)
                .option(
                        ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        Math.toIntExact(settings.connectTimeout().toMillis()))
                .option(ChannelOption.RECVBUF_ALLOCATOR, PacedBody.readings())
                // Of the system: left to itself it holds several MiB of what a slow reader has not taken.
                .option(ChannelOption.SO_RCVBUF, BUFFER)
                .option(ChannelOption.SO_SNDBUF, BUFFER)
                // A server that reads no more may have answered already: what cannot be written closes nothing that can
                // be read.
                .option(ChannelOption.AUTO_CLOSE, false)
                .httpResponseDecoder(decoder -> decoder.maxHeaderSize(MAX_HEADER_BYTES))
                // A request is passed on once: whether it may be repeated is the caller's to know.
                .disableRetry(true);
    }

    /** The client with which all connections to ports are made. */
    HttpClient client() {
        return client;
    }

    Mono<Void> pass(ProxiedRequest visit, HttpServerRequest request, HttpServerResponse response) {
        return client.headers(headers -> write(request, visit, headers.clear()))
                .remoteAddress(visit::address)
                .doOnConnected(visit::connected)
                .request(request.method())
                .uri(RequestTarget.PLACEHOLDER)
                .send((sent, outbound) -> hasBody(request) ? body(request, visit, outbound) : outbound)
                .response((answer, body) -> back(visit, request, response, answer, body))
                .then();
    }

    private static void write(HttpServerRequest request, ProxiedRequest visit, HttpHeaders to) {
        InwardHeaders.write(request.requestHeaders(), visit.way(), to);
        to.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    }

    /** Passes the body on. Not taken, it has no end either: that comes with the answer, or with the connection's. */
    private static Publisher<Void> body(HttpServerRequest request, ProxiedRequest visit, NettyOutbound outbound) {
        return outbound.send(paced(request.receive(), visit, outbound), PortProxy::atOnce)
                .then()
                .onErrorResume(IOException.class, _ -> Mono.never());
    }

    private static Publisher<Void> back(
            ProxiedRequest visit,
            HttpServerRequest request,
            HttpServerResponse response,
            HttpClientResponse answer,
            ByteBufFlux body) {
        visit.traffic().moved(1);
        Optional<PortProblem> unfit = UnfitAnswers.problem(
                request.requestHeaders(),
                answer.status(),
                answer.responseHeaders(),
                visit.path().port());
        if (unfit.isPresent()) {
            return Mono.error(unfit.get());
        }
        response.status(answer.status());
        OutwardHeaders.write(answer.responseHeaders(), visit.way(), response.responseHeaders());
        return isBodiless(request.method(), answer.status())
                ? response.send()
                : response.send(paced(body, visit, response), PortProxy::atOnce);
    }

    private static Publisher<ByteBuf> paced(ByteBufFlux body, ProxiedRequest visit, NettyOutbound to) {
        Channel[] channel = new Channel[1];
        to.withConnection(connection -> channel[0] = connection.channel());
        return PacedBody.of(body.retain().doOnNext(piece -> visit.traffic().moved(piece.readableBytes())), channel[0]);
    }

    /** What comes is passed on without waiting for more: it may be an event somebody waits for. */
    private static boolean atOnce(ByteBuf piece) {
        return piece.isReadable();
    }

    private static boolean hasBody(HttpServerRequest request) {
        return request.requestHeaders().contains(HttpHeaderNames.CONTENT_LENGTH)
                || request.requestHeaders().contains(HttpHeaderNames.TRANSFER_ENCODING);
    }

    private static boolean isBodiless(HttpMethod method, HttpResponseStatus status) {
        return method.equals(HttpMethod.HEAD)
                || status.equals(HttpResponseStatus.NO_CONTENT)
                || status.equals(HttpResponseStatus.NOT_MODIFIED);
    }
}
