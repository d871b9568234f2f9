package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.caller.Admission;
import dev.sandglass.gateway.caller.Attempts;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.Callers;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/**
 * Where requests come in: who may not enter is answered here, before anything else of the request is looked at. Every
 * request carries its credentials, nothing is remembered between requests.
 */
final class Entrance {

    private static final String ALLOWED_HEADERS =
            "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, " + Client.SESSION;
    private static final String EXPOSED_HEADERS = HttpHeaderNames.WWW_AUTHENTICATE + ", " + Client.SESSION;

    private final Callers callers;
    private final Set<String> allowedOrigins;
    private final McpEndpoint endpoint;
    private final MeterRegistry meters;
    private final Attempts attempts = new Attempts(System::nanoTime);

    Entrance(McpRoute.Entrants entrants, McpEndpoint endpoint, MeterRegistry meters) {
        this.callers = entrants.callers();
        this.allowedOrigins = Set.copyOf(entrants.allowedOrigins());
        this.endpoint = endpoint;
        this.meters = meters;
    }

    /** Serves a request, whatever it is. */
    Mono<Void> serve(HttpServerRequest request, HttpServerResponse response) {
        long begin = System.nanoTime();
        var http = new HttpExchange(request, response);
        // What is answered is never to be kept or guessed at.
        http.add(HttpHeaderNames.CACHE_CONTROL, "no-store");
        http.add("X-Content-Type-Options", "nosniff");
        return enter(http)
                // The client hung up: there is nobody to tell.
                .onErrorComplete(AbortedException.class)
                .doFinally(ended -> measure(http, Duration.ofNanos(System.nanoTime() - begin)));
    }

    /**
     * A page's origin comes first. MCP demands it against DNS rebinding (2026-07-28, streamable HTTP, "Security and
     * endpoint"): the page's host name then equals ours, so that the usual same-origin rule would let it pass. Programs
     * send no {@code Origin} and are not concerned.
     */
    private Mono<Void> enter(HttpExchange http) {
        @Nullable String origin = http.header(HttpHeaderNames.ORIGIN);
        if (origin == null) {
            return admit(http);
        }
        if (!allowedOrigins.contains(origin)) {
            attempts.refused(http.clientAddress(), HttpResponseStatus.FORBIDDEN.code());
            return refuse(http, HttpResponseStatus.FORBIDDEN, "Forbidden: this origin is not allowed");
        }
        http.add(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        http.add(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN);
        http.add(HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        if (!http.method().equals(HttpMethod.OPTIONS)) {
            return admit(http);
        }
        http.add(HttpHeaderNames.ACCESS_CONTROL_ALLOW_METHODS, HttpMethod.POST.name());
        http.add(HttpHeaderNames.ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
        return http.empty(HttpResponseStatus.NO_CONTENT);
    }

    private Mono<Void> admit(HttpExchange http) {
        return switch (Admission.of(callers, http.header(HttpHeaderNames.AUTHORIZATION))) {
            case Admission.Refused(String challenge, String message) -> {
                attempts.refused(http.clientAddress(), HttpResponseStatus.UNAUTHORIZED.code());
                http.add(HttpHeaderNames.WWW_AUTHENTICATE, challenge);
                yield refuse(http, HttpResponseStatus.UNAUTHORIZED, message);
            }
            case Admission.Admitted(var caller) -> {
                http.admitted();
                yield serve(http, caller);
            }
        };
    }

    private Mono<Void> serve(HttpExchange http, Caller caller) {
        if (http.method().equals(HttpMethod.POST)) {
            return endpoint.post(http, caller);
        }
        // There is no stream to open, and of a session there is nothing but its name, so that it has no end either
        // (2026-07-28, streamable HTTP, "Backward compatibility"; 2025-11-25, "Session management", 5).
        http.add(HttpHeaderNames.ALLOW, HttpMethod.POST.name());
        return http.empty(HttpResponseStatus.METHOD_NOT_ALLOWED);
    }

    /** A JSON-RPC error without id, as MCP allows for requests that never become a call. */
    private Mono<Void> refuse(HttpExchange http, HttpResponseStatus status, String message) {
        return endpoint.error(http, McpError.refused(status, message), null);
    }

    private void measure(HttpExchange http, Duration duration) {
        meters.timer("sandglass.mcp.requests", "status", Integer.toString(http.status()))
                .record(duration);
    }
}
