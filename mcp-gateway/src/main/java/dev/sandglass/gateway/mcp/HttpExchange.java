package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.http.AcceptedTypes;
import dev.sandglass.gateway.http.ConnectionLimiter;
import dev.sandglass.gateway.http.Framing;
import dev.sandglass.gateway.http.LingeringClose;
import dev.sandglass.gateway.http.PacedBody;
import dev.sandglass.gateway.http.WriteCompletion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * One request of HTTP and its answer: what the endpoint needs of WebFlux, and nothing of MCP. Below it the server is Reactor
 * Netty's, whose connection says what WebFlux does not: its event loop, and whether the client takes what is written.
 */
final class HttpExchange {

    private static final int AT_ONCE = 64 * 1024;
    private static final Duration BODY_TIMEOUT = Duration.ofSeconds(30);

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final ServerHttpRequest flux;
    private final ServerHttpResponse answer;
    private final Channel channel;
    private final Scheduler thread;
    private boolean isRead;

    HttpExchange(ServerWebExchange exchange) {
        this.flux = exchange.getRequest();
        this.answer = exchange.getResponse();
        this.request = ServerHttpRequestDecorator.getNativeRequest(flux);
        this.response = ServerHttpResponseDecorator.getNativeResponse(answer);
        Channel[] connected = new Channel[1];
        request.withConnection(connection -> connected[0] = connection.channel());
        this.channel = connected[0];
        this.thread = Schedulers.fromExecutor(channel.eventLoop());
        Framing.fit(request, response);
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

    /** Path and query, as they came. */
    String uri() {
        return request.uri();
    }

    @Nullable
    String header(CharSequence name) {
        return request.requestHeaders().get(name);
    }

    HttpHeaders headers() {
        return request.requestHeaders();
    }

    /** What the client takes; {@link McpError} if it takes none of what the endpoint answers. */
    AcceptedTypes accepted() {
        AcceptedTypes accepted;
        try {
            accepted = AcceptedTypes.of(request.requestHeaders().getAll(HttpHeaderNames.ACCEPT));
        } catch (InvalidMediaTypeException odd) {
            throw McpError.invalidRequest("header Accept must be a list of media types; " + McpError.ACCEPT);
        }
        if (accepted.areNone()) {
            throw McpError.notAcceptable();
        }
        return accepted;
    }

    /** The address of whoever is connected; empty if there is none. */
    String clientAddress() {
        InetSocketAddress address = request.remoteAddress();
        return address == null || address.getAddress() == null
                ? ""
                : address.getAddress().getHostAddress();
    }

    /** Who is connected, a proxy perhaps, whatever the request says of the way before; null if that is not known. */
    @Nullable
    InetAddress peer() {
        return channel.remoteAddress() instanceof InetSocketAddress address ? address.getAddress() : null;
    }

    /**
     * The body, or {@link McpError} if it is longer than that, comes too slowly, is declared as something else than JSON in
     * UTF-8, is compressed, is sent under a condition, or finds no room.
     *
     * @param allowance from which it is taken as it comes
     */
    Mono<byte[]> body(int mostBytes, Allowance allowance) {
        if (!isJson(header(HttpHeaderNames.CONTENT_TYPE))) {
            return Mono.error(McpError.notJson());
        }
        if (!isAbsentOr(HttpHeaderNames.CONTENT_ENCODING, HttpHeaderValues.IDENTITY)) {
            add(HttpHeaderNames.ACCEPT_ENCODING, HttpHeaderValues.IDENTITY);
            return Mono.error(McpError.compressed());
        }
        if (!isAbsentOr(HttpHeaderNames.EXPECT, HttpHeaderValues.CONTINUE)) {
            return Mono.error(McpError.expectationFailed());
        }
        // Netty has refused what is no number.
        long declared = Optional.ofNullable(header(HttpHeaderNames.CONTENT_LENGTH))
                .map(Long::parseLong)
                .orElse((long) mostBytes);
        if (declared > mostBytes) {
            return Mono.error(McpError.tooLarge(mostBytes));
        }
        return flux.getBody()
                .collect(() -> new Body(mostBytes, (int) declared, allowance), HttpExchange::add)
                .map(Body::whole)
                .doOnNext(whole -> isRead = true)
                .timeout(BODY_TIMEOUT, Mono.error(McpError::tooSlow), thread);
    }

    private static void add(Body body, DataBuffer piece) {
        try {
            body.add(NettyDataBufferFactory.toByteBuf(piece));
        } finally {
            DataBufferUtils.release(piece);
        }
    }

    /** A client that does not say what it sends is taken to send JSON, which is all that MCP has. */
    private static boolean isJson(@Nullable String contentType) {
        if (contentType == null) {
            return true;
        }
        try {
            MediaType type = MediaType.parseMediaType(contentType);
            Charset charset = type.getCharset();
            return type.equalsTypeAndSubtype(MediaType.APPLICATION_JSON)
                    && (charset == null
                            || charset.equals(StandardCharsets.UTF_8)
                            || charset.equals(StandardCharsets.US_ASCII));
        } catch (InvalidMediaTypeException odd) {
            return false;
        }
    }

    private boolean isAbsentOr(CharSequence name, CharSequence only) {
        String value = header(name);
        return value == null || AsciiString.contentEqualsIgnoreCase(value, only);
    }

    /** Adds a header to the answer. */
    void add(CharSequence name, CharSequence value) {
        answer.getHeaders().set(name.toString(), value.toString());
    }

    /** It comes from a caller whom this installation knows. */
    void admitted() {
        ConnectionLimiter.passed(channel);
    }

    /** Whoever is answered before the body was read is not listened to any longer. */
    private void endUnlessRead() {
        if (!isRead) {
            LingeringClose.unlessRead(request, response);
        }
    }

    /** The server itself has refused the request meanwhile, because the rest of its body could not be read. */
    private boolean isAnswered() {
        return response.hasSentHeaders();
    }

    /** Answers without body. */
    Mono<Void> empty(HttpResponseStatus status) {
        if (isAnswered()) {
            return Mono.empty();
        }
        endUnlessRead();
        answer.setRawStatusCode(status.code());
        answer.getHeaders().setContentLength(0);
        return answer.setComplete();
    }

    /** Answers with JSON, as one piece; ends when that was written. */
    Mono<Void> json(HttpResponseStatus status, byte[] body) {
        if (isAnswered()) {
            return Mono.empty();
        }
        endUnlessRead();
        answer.setRawStatusCode(status.code());
        answer.getHeaders().setContentType(MediaType.APPLICATION_JSON);
        answer.getHeaders().setContentLength(body.length);
        return answer.writeWith(buffers(paced(body))).then(WriteCompletion.all(channel));
    }

    /** Bytes of an answer: at once if they are few, else as the client takes them. */
    Publisher<ByteBuf> paced(byte[] bytes) {
        return bytes.length <= AT_ONCE
                ? Mono.fromSupplier(() -> Unpooled.wrappedBuffer(bytes))
                : PacedBody.of(bytes, channel);
    }

    /** Answers with server-sent events; each is flushed before the next is asked for. */
    Mono<Void> events(Publisher<? extends Publisher<ByteBuf>> events) {
        answer.setRawStatusCode(HttpResponseStatus.OK.code());
        answer.getHeaders().setContentType(MediaType.TEXT_EVENT_STREAM);
        add("X-Accel-Buffering", "no");
        return answer.writeAndFlushWith(Flux.from(events).map(this::buffers));
    }

    private Publisher<DataBuffer> buffers(Publisher<ByteBuf> bytes) {
        var factory = (NettyDataBufferFactory) answer.bufferFactory();
        return bytes instanceof Mono<ByteBuf> one
                ? one.map(factory::wrap)
                : Flux.from(bytes).map(factory::wrap);
    }

    /** The status that was answered, or 0 if the client went before. */
    int status() {
        return response.hasSentHeaders() ? response.status().code() : 0;
    }
}
