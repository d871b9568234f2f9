package dev.sandglass.gateway.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import reactor.netty.NettyPipeline;
import reactor.netty.channel.ChannelOperations;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRequest;

/**
 * Requests that are no HTTP: the server answers them with a bare status before any route sees them. Here the answer gets a
 * body that says which rule was broken; it quotes nothing of the request. Stands behind the decoder of HTTP; for one
 * connection.
 */
public final class UnreadableRequests extends ChannelDuplexHandler {

    /** Most bytes of a request line. */
    public static final int MAX_LINE_BYTES = 8 * 1024;

    /** Most bytes of the headers of a request together. */
    public static final int MAX_HEADERS_BYTES = 8 * 1024;

    // What Netty puts in the place of a request whose first line cannot be read.
    private static final String NO_TARGET = "/bad-request";

    private final Map<Rule, byte[]> bodies;
    private final Predicate<String> keptBare;
    private @Nullable Rule broken;

    private UnreadableRequests(Map<Rule, byte[]> bodies, Predicate<String> keptBare) {
        this.bodies = bodies;
        this.keptBare = keptBare;
    }

    /** Writes a refusal in the form that the clients of a server read. */
    @FunctionalInterface
    public interface Form {

        /** The body, as {@code application/json}. */
        byte[] of(HttpResponseStatus status, String words);
    }

    /** What a request breaks. */
    private enum Rule {
        LINE("the first line must be METHOD TARGET HTTP/1.1, as in POST /mcp HTTP/1.1; this port takes HTTP/1.1"
                + " without TLS"),
        LONG_LINE("the request line has more than %d bytes; shorten the URL's query".formatted(MAX_LINE_BYTES)),
        HEADERS(
                "the headers cannot be read; each is a line 'Name: value', Host is one host, and the length of the body is"
                        + " told by Content-Length, one whole number, or by Transfer-Encoding: chunked, not by both"),
        LONG_HEADERS("the headers have more than %d bytes together; send fewer or shorter ones"
                .formatted(MAX_HEADERS_BYTES)),
        CHUNKS("the body's chunks cannot be read; each begins with its length in hexadecimal digits and a line end"),
        VERSION("HTTP/2 is not served at this port; use HTTP/1.1");

        private final String words;

        Rule(String words) {
            this.words = words;
        }

        private HttpResponseStatus status() {
            return switch (this) {
                case LONG_LINE -> HttpResponseStatus.REQUEST_URI_TOO_LONG;
                case LONG_HEADERS -> HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE;
                case LINE, HEADERS, CHUNKS, VERSION -> HttpResponseStatus.BAD_REQUEST;
            };
        }

        private static Rule of(HttpObject message) {
            return switch (message.decoderResult().cause()) {
                case TooLongHttpLineException _ -> LONG_LINE;
                case TooLongHttpHeaderException _ -> LONG_HEADERS;
                default ->
                    switch (message) {
                        case HttpRequest request when request.uri().equals(NO_TARGET) -> LINE;
                        case HttpRequest _ -> HEADERS;
                        default -> CHUNKS;
                    };
            };
        }
    }

    /**
     * The same server with such answers.
     *
     * @param keptBare targets of which the answers are left as they are, because they have another form
     */
    public static HttpServer of(HttpServer server, Form form, Predicate<String> keptBare) {
        var bodies = new EnumMap<Rule, byte[]>(Rule.class);
        for (Rule rule : Rule.values()) {
            bodies.put(rule, form.of(rule.status(), rule.words));
        }
        return server.httpRequestDecoder(
                        decoder -> decoder.maxInitialLineLength(MAX_LINE_BYTES).maxHeaderSize(MAX_HEADERS_BYTES))
                .doOnChannelInit((observer, channel, address) -> channel.pipeline()
                        .addAfter(NettyPipeline.HttpCodec, "unreadable", new UnreadableRequests(bodies, keptBare)));
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
            broken = Rule.of(part);
        }
        context.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
        Object written = message;
        if (message instanceof FullHttpResponse bare && isOfServer(bare) && !isKept(context.channel())) {
            written = told(context.channel(), bare);
        }
        var _ = context.write(written, promise);
    }

    /** A refusal of the server's own: it has no word, and two headers. */
    private static boolean isOfServer(FullHttpResponse answer) {
        int status = answer.status().code();
        return (status == HttpResponseStatus.BAD_REQUEST.code()
                        || status == HttpResponseStatus.REQUEST_URI_TOO_LONG.code()
                        || status == HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE.code())
                && !answer.content().isReadable()
                && answer.headers().size() == 2
                && answer.headers().contains(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE, true);
    }

    private boolean isKept(Channel channel) {
        return ChannelOperations.get(channel) instanceof HttpServerRequest request && keptBare.test(request.uri());
    }

    private FullHttpResponse told(Channel channel, FullHttpResponse bare) {
        byte[] body = Objects.requireNonNull(bodies.get(rule(channel)), "a rule without words");
        bare.release();
        // More of the request may come: to close while it does would have the answer lost.
        LingeringClose.before(channel);
        var answer = new DefaultFullHttpResponse(bare.protocolVersion(), bare.status(), Unpooled.wrappedBuffer(body));
        answer.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
                .setInt(HttpHeaderNames.CONTENT_LENGTH, body.length)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
                .set(HttpHeaderNames.CACHE_CONTROL, HttpHeaderValues.NO_STORE)
                .set("X-Content-Type-Options", "nosniff");
        return answer;
    }

    /** What the decoder took, the server may still refuse: another version, or a host that is none. */
    private Rule rule(Channel channel) {
        if (broken != null) {
            return broken;
        }
        return ChannelOperations.get(channel) instanceof HttpServerRequest request
                        && request.version().majorVersion() > 1
                ? Rule.VERSION
                : Rule.HEADERS;
    }
}
