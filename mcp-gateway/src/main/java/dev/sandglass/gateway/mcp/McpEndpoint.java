package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.CallerSecurity;
import dev.sandglass.gateway.execution.OutputListener;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * {@code POST /mcp}: one message in, one answer out, as JSON or as a stream of events. Holds no state but the calls under
 * way; any replica serves any request.
 */
final class McpEndpoint {

    private static final Logger LOG = LoggerFactory.getLogger(McpEndpoint.class);
    private static final Duration BODY_TIMEOUT = Duration.ofSeconds(30);
    private static final String CANCELLED = "notifications/cancelled";

    private final McpDispatcher dispatcher;
    private final McpSettings settings;
    private final JsonCodec codec;
    private final RunningCalls calls = new RunningCalls();
    private final DataBufferFactory buffers = new DefaultDataBufferFactory();

    McpEndpoint(McpDispatcher dispatcher, McpSettings settings) {
        this.dispatcher = dispatcher;
        this.settings = settings;
        this.codec = new JsonCodec(settings.maxBodyBytes());
    }

    Mono<ServerResponse> post(ServerRequest http) {
        return http.principal()
                .map(CallerSecurity::callerOf)
                .flatMap(caller -> body(http).flatMap(body -> answer(http, caller, body)))
                .onErrorMap(InvalidMediaTypeException.class, odd -> McpError.invalidRequest("not a media type"))
                .onErrorResume(McpError.class, problem -> error(problem, null));
    }

    /** There is no stream to open and no session to end (2026-07-28, streamable HTTP, "Backward compatibility"). */
    Mono<ServerResponse> methodNotAllowed(ServerRequest http) {
        return ServerResponse.status(HttpStatus.METHOD_NOT_ALLOWED)
                .header("Allow", "POST")
                .build();
    }

    private Mono<byte[]> body(ServerRequest http) {
        int most = settings.maxBodyBytes();
        if (http.headers()
                .contentType()
                .filter(type -> !type.isCompatibleWith(MediaType.APPLICATION_JSON))
                .isPresent()) {
            return Mono.error(McpError.notJson());
        }
        if (http.headers().contentLength().orElse(0) > most) {
            return Mono.error(McpError.tooLarge(most));
        }
        return DataBufferUtils.join(http.exchange().getRequest().getBody(), most)
                .map(McpEndpoint::bytes)
                .defaultIfEmpty(new byte[0])
                .timeout(BODY_TIMEOUT, Mono.error(McpError::tooSlow), ConnectionThread.of(http))
                .onErrorMap(DataBufferLimitException.class, tooLong -> McpError.tooLarge(most));
    }

    private static byte[] bytes(DataBuffer buffer) {
        byte[] bytes = new byte[buffer.readableByteCount()];
        buffer.read(bytes);
        DataBufferUtils.release(buffer);
        return bytes;
    }

    private Mono<ServerResponse> answer(ServerRequest http, Caller caller, byte[] body) {
        ObjectNode message = codec.read(body);
        try {
            return switch (JsonCodec.message(message)) {
                case JsonRpc.Incoming.Request request -> answer(http, caller, request);
                case JsonRpc.Incoming.Notification notification -> accept(http, caller, notification);
                case JsonRpc.Incoming.Response nobodyWaits ->
                    ServerResponse.accepted().build();
            };
        } catch (McpError problem) {
            return error(problem, JsonCodec.idOf(message));
        }
    }

    private Mono<ServerResponse> answer(ServerRequest http, Caller caller, JsonRpc.Incoming.Request incoming) {
        Era era = Era.of(incoming, http.headers().asHttpHeaders());
        var request = new McpRequest(incoming.id(), incoming.method(), incoming.params(), era, caller);
        return streams(http, request) ? stream(http, request) : json(http, request);
    }

    /** Progress can only be streamed; else a stream is for those who accept nothing else. */
    private static boolean streams(ServerRequest http, McpRequest request) {
        List<MediaType> accepted = http.headers().accept();
        boolean events = accepted.stream().anyMatch(MediaType.TEXT_EVENT_STREAM::equalsTypeAndSubtype);
        boolean json = accepted.stream().anyMatch(type -> type.includes(MediaType.APPLICATION_JSON));
        boolean wantsProgress =
                request.method().equals("tools/call") && request.progressToken().isPresent();
        return events && (wantsProgress || !json);
    }

    private Mono<ServerResponse> json(ServerRequest http, McpRequest request) {
        return calls.cancellable(
                        key(http, request), dispatched(request, OutputListener.NONE, ConnectionThread.of(http)))
                .map(result -> JsonRpc.Answer.result(request.id(), result))
                .switchIfEmpty(Mono.error(McpError::cancelled))
                .flatMap(answer -> written(HttpStatus.OK, answer))
                .onErrorResume(problem -> error(known(problem), request.id()));
    }

    private Mono<ServerResponse> stream(ServerRequest http, McpRequest request) {
        Scheduler thread = ConnectionThread.of(http);
        var stream = new EventStream(codec, buffers, settings.keepAlive(), thread);
        @Nullable JsonNode token = request.progressToken().orElse(null);
        var events = stream.of(
                token, progress -> calls.cancellable(key(http, request), dispatched(request, progress, thread))
                        .map(result -> JsonRpc.Answer.result(request.id(), result))
                        .onErrorResume(problem -> Mono.just(JsonRpc.Answer.error(
                                request.id(), known(problem).problem()))));
        return ServerResponse.ok()
                .contentType(MediaType.TEXT_EVENT_STREAM)
                .header("Cache-Control", "no-cache")
                .header("X-Accel-Buffering", "no")
                .body((response, context) -> response.writeAndFlushWith(events));
    }

    private Mono<Object> dispatched(McpRequest request, OutputListener progress, Scheduler thread) {
        return Mono.defer(() -> dispatcher.dispatch(new McpRequest.Call(request, progress, thread)));
    }

    private Mono<ServerResponse> accept(ServerRequest http, Caller caller, JsonRpc.Incoming.Notification notification) {
        if (notification.method().equals(CANCELLED)) {
            JsonNode id = notification.params().path("requestId");
            boolean found = calls.cancel(key(http, caller, id));
            LOG.atDebug()
                    .addKeyValue("caller", caller.name())
                    .addKeyValue("found", found)
                    .log("Call cancelled");
        }
        return ServerResponse.accepted().build();
    }

    private static McpError known(Throwable problem) {
        if (problem instanceof McpError known) {
            return known;
        }
        LOG.atError().setCause(problem).log("Request failed by a fault of the gateway");
        return McpError.internal();
    }

    private Mono<ServerResponse> error(McpError problem, @Nullable JsonNode id) {
        return written(problem.status(), JsonRpc.Answer.error(id, problem.problem()));
    }

    private Mono<ServerResponse> written(HttpStatus status, JsonRpc.Answer answer) {
        DataBuffer body = buffers.wrap(codec.write(answer));
        return ServerResponse.status(status)
                .contentType(MediaType.APPLICATION_JSON)
                .contentLength(body.readableByteCount())
                .body((response, context) -> response.writeWith(Mono.just(body)));
    }

    private static RunningCalls.Key key(ServerRequest http, McpRequest request) {
        return key(http, request.caller(), request.id());
    }

    /** The id as JSON, so that the text "1" and the number 1 stay two ids. */
    private static RunningCalls.Key key(ServerRequest http, Caller caller, JsonNode id) {
        String address = http.remoteAddress()
                .map(InetSocketAddress::getAddress)
                .map(known -> known.getHostAddress())
                .orElse("");
        return new RunningCalls.Key(
                caller.name(), address, Optional.of(id).map(JsonNode::toString).orElse(""));
    }
}
