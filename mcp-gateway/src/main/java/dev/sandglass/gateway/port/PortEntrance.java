package dev.sandglass.gateway.port;

import dev.sandglass.gateway.http.ConnectionLimiter;
import dev.sandglass.gateway.http.Framing;
import dev.sandglass.gateway.http.LingeringClose;
import dev.sandglass.gateway.port.PortSettings.ReachedBy;
import dev.sandglass.gateway.port.message.InwardHeaders;
import dev.sandglass.gateway.port.message.PortPath;
import dev.sandglass.gateway.port.message.PortProblem;
import dev.sandglass.gateway.port.message.ProxiedRequest;
import dev.sandglass.gateway.port.message.RequestTarget;
import dev.sandglass.gateway.port.message.Traffic;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.websocket.FrameBudget;
import dev.sandglass.gateway.websocket.SocketProxy;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** Where requests to sandboxes' ports come in: who may, and for how long. */
final class PortEntrance {

    private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");

    private final PortGate gate;
    private final PortSettings settings;
    private final ConnectionQuota slots;
    private final PortProxy http;
    private final SocketProxy sockets;
    private final PortLog log;

    PortEntrance(PortGate gate, PortSettings settings, PortProxy http, PortLog log) {
        this.gate = gate;
        this.settings = settings;
        this.slots = new ConnectionQuota(settings);
        this.http = http;
        this.sockets = new SocketProxy(http.client(), settings.sockets());
        this.log = log;
    }

    /** What WebSockets' frames under way hold. */
    FrameBudget frames() {
        return sockets.frames();
    }

    /** Serves a request, whatever it is. */
    Mono<Void> serve(HttpServerRequest request, HttpServerResponse response) {
        Framing.fit(request, response);
        Optional<PortPath> path = PortPath.parse(request.uri());
        if (path.isEmpty()) {
            LingeringClose.unlessRead(request, response);
            return Refusals.answer(
                    response,
                    Optional.empty(),
                    new PortProblem(
                            HttpResponseStatus.NOT_FOUND,
                            "No address of a port; they are /sandboxes/NAMESPACE/SANDBOX/ports/PORT/."));
        }
        PortLog.Entry entry = log.begin(path.get(), request.method().name(), address(request));
        // The client hung up: there is nobody to tell.
        return Mono.defer(() -> admit(path.get(), request, response, entry))
                .onErrorResume(problem -> {
                    LingeringClose.unlessRead(request, response);
                    return Refusals.told(response, path.get(), problem);
                })
                .onErrorComplete(AbortedException.class)
                .doFinally(_ ->
                        entry.end(response.hasSentHeaders() ? response.status().code() : 0));
    }

    private Mono<Void> admit(
            PortPath path, HttpServerRequest request, HttpServerResponse response, PortLog.Entry entry) {
        checkReached(path);
        @Nullable String authorization = request.requestHeaders().get(HttpHeaderNames.AUTHORIZATION);
        return gate.enter(path, authorization).flatMap(admitted -> {
            request.withConnection(connection -> ConnectionLimiter.passed(connection.channel()));
            entry.by(admitted.caller().name());
            return serve(new Visitor(path, admitted, authorization), request, response, entry);
        });
    }

    /** A request that was let in, and by what. */
    private record Visitor(
            PortPath path,
            PortGate.Entry admitted,
            @Nullable String authorization) {}

    private Mono<Void> serve(
            Visitor visitor, HttpServerRequest request, HttpServerResponse response, PortLog.Entry entry) {
        PortPath path = visitor.path();
        check(path, request);
        if (path.link() != null
                && request.method().equals(HttpMethod.OPTIONS)
                && request.requestHeaders().contains(HttpHeaderNames.ACCESS_CONTROL_REQUEST_METHOD)) {
            return Refusals.preflight(response, path);
        }
        if (path.lacksSlash()) {
            LingeringClose.unlessRead(request, response);
            return Refusals.redirect(response, path);
        }
        return gate.open(visitor.admitted(), path.port())
                .flatMap(sandbox -> visit(
                        new ProxiedRequest(path, sandbox, way(path, request), entry.traffic()),
                        visitor.authorization(),
                        request,
                        response));
    }

    private void checkReached(PortPath path) {
        if (settings.reachedBy() == ReachedBy.NONE) {
            throw new PortProblem(
                    HttpResponseStatus.FORBIDDEN,
                    "This installation makes no port of a sandbox reachable (the chart's gateway.ports: none).");
        }
        if (settings.reachedBy() == ReachedBy.KEYS && path.link() != null) {
            throw new PortProblem(
                    HttpResponseStatus.FORBIDDEN,
                    "This installation has no links to ports (the chart's gateway.ports: keys). Use the address that"
                            + " sandbox_start tells, with an API key.");
        }
    }

    private static void check(PortPath path, HttpServerRequest request) {
        if (!RequestTarget.isOne(path.rest())) {
            throw new PortProblem(
                    HttpResponseStatus.BAD_REQUEST,
                    "The address has a space or a control character in it; write it as %20 and the like.");
        }
        if (!METHODS.contains(request.method().name())) {
            throw new PortProblem(
                    HttpResponseStatus.METHOD_NOT_ALLOWED,
                    "The method " + request.method() + " is not passed on to sandboxes.");
        }
        if (request.requestHeaders().contains("Service-Worker")) {
            throw new PortProblem(
                    HttpResponseStatus.FORBIDDEN,
                    "A sandbox's page may not install a service worker; serve the page without one.");
        }
    }

    private Mono<Void> visit(
            ProxiedRequest visit,
            @Nullable String authorization,
            HttpServerRequest request,
            HttpServerResponse response) {
        slots.take(visit.sandbox());
        gate.active(visit.sandbox());
        Mono<Void> passed =
                isForSocket(request) ? sockets.pass(visit, request, response) : http.pass(visit, request, response);
        return passed.takeUntilOther(watch(visit, authorization)).doFinally(_ -> {
            visit.upstream().dispose();
            slots.free(visit.sandbox());
        });
    }

    /** Looks at an open connection again and again; an error as soon as it has to end. */
    private Mono<Void> watch(ProxiedRequest visit, @Nullable String authorization) {
        Traffic traffic = visit.traffic();
        RunningSandbox sandbox = visit.sandbox();
        return Flux.interval(settings.look())
                // A look that takes long is not made twice at a time.
                .onBackpressureDrop()
                .concatMap(_ -> gate.mayStay(visit.path(), authorization, sandbox), 1)
                .<Void>handle((stays, over) -> {
                    if (!stays) {
                        over.error(PortProblem.unavailable(
                                "The connection was ended: the sandbox, its port or the right to use it is gone."));
                    } else if (traffic.isIdle(settings.idleTimeout())) {
                        over.error(new PortProblem(
                                HttpResponseStatus.GATEWAY_TIMEOUT,
                                "Nothing moved for %s; the connection was ended.".formatted(settings.idleTimeout())));
                    } else if (traffic.isNewUse()) {
                        gate.active(sandbox);
                    }
                })
                .then();
    }

    private static boolean isForSocket(HttpServerRequest request) {
        return request.method().equals(HttpMethod.GET)
                && request.requestHeaders().containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true);
    }

    private InwardHeaders.Way way(PortPath path, HttpServerRequest request) {
        return new InwardHeaders.Way(
                address(request), settings.scheme(), request.requestHeaders().get(HttpHeaderNames.HOST, ""), path);
    }

    private static String address(HttpServerRequest request) {
        InetSocketAddress client = request.remoteAddress();
        return client == null || client.getAddress() == null
                ? ""
                : client.getAddress().getHostAddress();
    }
}
