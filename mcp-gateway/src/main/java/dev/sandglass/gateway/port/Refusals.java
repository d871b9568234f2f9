package dev.sandglass.gateway.port;

import dev.sandglass.gateway.port.message.OutwardHeaders;
import dev.sandglass.gateway.port.message.PortPath;
import dev.sandglass.gateway.port.message.PortProblem;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import io.netty.buffer.Unpooled;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.websocketx.WebSocketClientHandshakeException;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.server.HttpServerResponse;
import tools.jackson.databind.json.JsonMapper;

/** What the gateway itself answers on the paths of ports. */
final class Refusals {

    private static final Logger LOG = LoggerFactory.getLogger(Refusals.class);
    private static final JsonMapper JSON = JsonMapper.shared();

    private Refusals() {}

    /** Tells a failure; if the answer has begun, the connection is cut, so that it is not taken for a whole one. */
    static Mono<Void> told(HttpServerResponse response, PortPath path, Throwable problem) {
        if (problem instanceof AbortedException) {
            return Mono.error(problem);
        }
        if (response.hasSentHeaders()) {
            // An error would be logged with its trace, which a sandbox could have as often as it likes.
            return Mono.create(done -> response.withConnection(
                    connection -> connection.channel().close().addListener(_ -> done.success())));
        }
        return answer(response, Optional.of(path), asProblem(problem, path));
    }

    /** What went wrong on the way to a sandbox's server, in words of whoever started it. */
    private static PortProblem asProblem(Throwable problem, PortPath path) {
        int port = path.port();
        return switch (problem) {
            case PortProblem known -> known;
            case SandboxProblem known -> PortProblem.of(known);
            case ConnectTimeoutException silent ->
                badGateway("Port %d of the sandbox does not answer. Try again in some seconds.", port);
            case ConnectException refused ->
                badGateway(
                        "Nothing listens on port %d of the sandbox. Start a server in it that listens on 0.0.0.0, not on"
                                + " localhost.",
                        port);
            case WebSocketClientHandshakeException refused ->
                badGateway("The server on port %d of the sandbox did not accept a WebSocket at this path.", port);
            case TooLongHttpHeaderException tooLong ->
                PortProblem.badGateway(
                        "The server on port %d of the sandbox answered with headers of more than %d bytes."
                                .formatted(port, PortProxy.MAX_HEADER_BYTES));
            case IOException broken ->
                badGateway("The server on port %d of the sandbox closed the connection without an answer.", port);
            default -> {
                LOG.atWarn()
                        .addKeyValue("namespace", path.tenant())
                        .addKeyValue("sandbox", path.sandbox())
                        .addKeyValue("port", port)
                        .addKeyValue("cause", problem.getClass().getSimpleName())
                        .log("A request to a sandbox's port failed");
                yield badGateway("What the server on port %d of the sandbox answered is not HTTP.", port);
            }
        };
    }

    private static PortProblem badGateway(String text, int port) {
        return PortProblem.badGateway(text.formatted(port));
    }

    static Mono<Void> answer(HttpServerResponse response, Optional<PortPath> path, PortProblem problem) {
        HttpHeaders headers = response.responseHeaders();
        path.ifPresent(known -> OutwardHeaders.protect(known, headers));
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set(HttpHeaderNames.CACHE_CONTROL, "no-store");
        if (!problem.challenge().isEmpty()) {
            headers.set(HttpHeaderNames.WWW_AUTHENTICATE, problem.challenge());
        }
        byte[] body = JSON.writeValueAsString(Map.of("error", problem.text())).getBytes(StandardCharsets.UTF_8);
        headers.set(HttpHeaderNames.CONTENT_TYPE, "application/json");
        headers.set(HttpHeaderNames.CONTENT_LENGTH, body.length);
        return response.status(problem.status())
                .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(body)))
                .then();
    }

    /** A page of no origin asks before it sends; its link was looked at. */
    static Mono<Void> preflight(HttpServerResponse response, PortPath path) {
        HttpHeaders headers = response.responseHeaders();
        OutwardHeaders.protect(path, headers);
        headers.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, PUT, PATCH, DELETE");
        headers.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_HEADERS, "*");
        return response.status(HttpResponseStatus.NO_CONTENT).send();
    }

    static Mono<Void> redirect(HttpServerResponse response, PortPath path) {
        HttpHeaders headers = response.responseHeaders();
        OutwardHeaders.protect(path, headers);
        headers.set(HttpHeaderNames.LOCATION, path.prefix() + "/" + path.rest());
        headers.set(HttpHeaderNames.CONTENT_LENGTH, 0);
        return response.status(HttpResponseStatus.PERMANENT_REDIRECT).send();
    }
}
