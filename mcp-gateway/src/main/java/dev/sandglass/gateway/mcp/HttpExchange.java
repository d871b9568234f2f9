package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.bound.LastWord;
import dev.sandglass.gateway.bound.Threshold;
import dev.sandglass.gateway.bound.Written;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.http.MediaType;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** One request of HTTP and its answer: what the endpoint needs of Reactor Netty, and nothing of MCP. */
final class HttpExchange {

    private static final Duration BODY_TIMEOUT = Duration.ofSeconds(30);

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final Scheduler thread;
    private boolean isRead;

    HttpExchange(HttpServerRequest request, HttpServerResponse response) {
        this.request = request;
        this.response = response;
        Scheduler[] eventLoop = new Scheduler[1];
        request.withConnection(connection ->
                eventLoop[0] = Schedulers.fromExecutor(connection.channel().eventLoop()));
        this.thread = eventLoop[0];
    }

    /**
     * The event loop of the connection, where answers are rendered. What a link tells comes on the same one in the gateway,
     * and in the middle of the link's own work, which is done before this gets its turn.
     */
    Scheduler thread() {
        return thread;
    }

    HttpMethod method() {
        return request.method();
    }

    @Nullable
    String header(CharSequence name) {
        return request.requestHeaders().get(name);
    }

    HttpHeaders headers() {
        return request.requestHeaders();
    }

    /** What the client accepts; throws {@link org.springframework.http.InvalidMediaTypeException}. */
    List<MediaType> accepted() {
        return MediaType.parseMediaTypes(request.requestHeaders().getAll(HttpHeaderNames.ACCEPT));
    }

    /** The address of whoever is connected; empty if there is none. */
    String clientAddress() {
        InetSocketAddress address = request.remoteAddress();
        return address == null || address.getAddress() == null
                ? ""
                : address.getAddress().getHostAddress();
    }

    /**
     * The body, or {@link McpError} if it is longer than that, comes too slowly, is declared as something else, or finds no
     * room.
     *
     * @param allowance from which it is taken as it comes
     */
    Mono<byte[]> body(int mostBytes, Allowance allowance) {
        String type = header(HttpHeaderNames.CONTENT_TYPE);
        if (type != null && !MediaType.parseMediaType(type).isCompatibleWith(MediaType.APPLICATION_JSON)) {
            return Mono.error(McpError.notJson());
        }
        // Netty has refused what is no number.
        long declared = Optional.ofNullable(header(HttpHeaderNames.CONTENT_LENGTH))
                .map(Long::parseLong)
                .orElse((long) mostBytes);
        if (declared > mostBytes) {
            return Mono.error(McpError.tooLarge(mostBytes));
        }
        return request.receive()
                .collect(() -> new Body(mostBytes, (int) declared, allowance), Body::add)
                .map(Body::whole)
                .doOnNext(whole -> isRead = true)
                .timeout(BODY_TIMEOUT, Mono.error(McpError::tooSlow), thread);
    }

    /** Adds a header to the answer. */
    void add(CharSequence name, CharSequence value) {
        response.header(name, value);
    }

    /** It comes from a caller whom this installation knows. */
    void admitted() {
        request.withConnection(connection -> Threshold.passed(connection.channel()));
    }

    /** Whoever is answered before the body was read is not listened to any longer. */
    private void endUnlessRead() {
        if (!isRead) {
            LastWord.unlessRead(request, response);
        }
    }

    /** Answers without body. */
    Mono<Void> empty(HttpResponseStatus status) {
        endUnlessRead();
        return response.status(status)
                .header(HttpHeaderNames.CONTENT_LENGTH, "0")
                .send();
    }

    /** Answers with JSON, as one piece; ends when that was written. */
    Mono<Void> json(HttpResponseStatus status, byte[] body) {
        endUnlessRead();
        Channel[] channel = new Channel[1];
        response.withConnection(connection -> channel[0] = connection.channel());
        return response.status(status)
                .header(HttpHeaderNames.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE)
                .header(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(body.length))
                .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
                .then()
                .then(Written.all(channel[0]));
    }

    /** Answers with server-sent events; each is flushed before the next is asked for. */
    Mono<Void> events(Publisher<? extends Publisher<ByteBuf>> events) {
        return response.status(HttpResponseStatus.OK)
                .header(HttpHeaderNames.CONTENT_TYPE, MediaType.TEXT_EVENT_STREAM_VALUE)
                .header("X-Accel-Buffering", "no")
                .sendGroups(events)
                .then();
    }

    /** The status that was answered, or 0 if the client went before. */
    int status() {
        return response.hasSentHeaders() ? response.status().code() : 0;
    }
}
