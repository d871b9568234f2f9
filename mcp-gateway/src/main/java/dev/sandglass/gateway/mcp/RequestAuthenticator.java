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
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;
import reactor.netty.channel.AbortedException;

/**
 * The filter before the endpoint: it answers requests that may not enter, before anything else of them is looked at, and tells
 * the route who calls. Every request carries its credentials, nothing is remembered between requests.
 */
final class RequestAuthenticator implements WebFilter {

    private static final String ADMITTED = RequestAuthenticator.class.getName() + ".admitted";

    /**
     * A request that may enter.
     *
     * @param http with its answer
     * @param caller who sent it
     */
    record Admitted(HttpExchange http, Caller caller) {

        /** That of an exchange behind this filter. */
        static Admitted of(Map<String, Object> attributes) {
            return (Admitted) Objects.requireNonNull(attributes.get(ADMITTED), "the filter of callers was left out");
        }
    }

    private static final String ALLOWED_METHODS = HttpMethod.POST + ", " + HttpMethod.DELETE;
    private static final String ALLOWED_HEADERS =
            "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, " + Client.SESSION;
    private static final String EXPOSED_HEADERS = HttpHeaderNames.WWW_AUTHENTICATE + ", " + Client.SESSION;

    private final Callers callers;
    private final Set<String> allowedOrigins;
    private final McpEndpoint endpoint;
    private final MeterRegistry meters;
    private final Attempts attempts = new Attempts(System::nanoTime);

    RequestAuthenticator(McpRoute.Entrants entrants, McpEndpoint endpoint, MeterRegistry meters) {
        this.callers = entrants.callers();
        this.allowedOrigins = Set.copyOf(entrants.allowedOrigins());
        this.endpoint = endpoint;
        this.meters = meters;
    }

    /** Lets a request of a known caller go on to its route. */
    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        long begin = System.nanoTime();
        var http = new HttpExchange(exchange);
        // What is answered is never to be kept or guessed at.
        http.add(HttpHeaderNames.CACHE_CONTROL, "no-store");
        http.add("X-Content-Type-Options", "nosniff");
        return enter(http, caller -> {
                    exchange.getAttributes().put(ADMITTED, new Admitted(http, caller));
                    return chain.filter(exchange);
                })
                // The client hung up: there is nobody to tell.
                .onErrorComplete(AbortedException.class)
                .doFinally(ended -> measure(http, Duration.ofNanos(System.nanoTime() - begin)));
    }

    /**
     * A page's origin comes first. MCP demands it against DNS rebinding (2026-07-28, streamable HTTP, "Security and
     * endpoint"): the page's host name then equals ours, so that the usual same-origin rule would let it pass. Programs
     * send no {@code Origin} and are not concerned.
     */
    private Mono<Void> enter(HttpExchange http, Function<Caller, Mono<Void>> next) {
        @Nullable String origin = http.header(HttpHeaderNames.ORIGIN);
        if (origin == null) {
            return admit(http, next);
        }
        if (!allowedOrigins.contains(origin)) {
            attempts.refused(http.clientAddress(), HttpResponseStatus.FORBIDDEN.code());
            return refuse(http, HttpResponseStatus.FORBIDDEN, "Forbidden: this origin is not allowed");
        }
        http.add(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        http.add(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN);
        http.add(HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        if (!http.method().equals(HttpMethod.OPTIONS)) {
            return admit(http, next);
        }
        http.add(HttpHeaderNames.ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
        http.add(HttpHeaderNames.ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
        return http.empty(HttpResponseStatus.NO_CONTENT);
    }

    private Mono<Void> admit(HttpExchange http, Function<Caller, Mono<Void>> next) {
        return Admission.of(callers, http.header(HttpHeaderNames.AUTHORIZATION))
                .flatMap(admission -> admit(http, admission, next));
    }

    private Mono<Void> admit(HttpExchange http, Admission admission, Function<Caller, Mono<Void>> next) {
        return switch (admission) {
            case Admission.Refused(String challenge, String message) -> {
                attempts.refused(http.clientAddress(), HttpResponseStatus.UNAUTHORIZED.code());
                http.add(HttpHeaderNames.WWW_AUTHENTICATE, challenge);
                yield refuse(http, HttpResponseStatus.UNAUTHORIZED, message);
            }
            case Admission.Undecided(String message) -> refuse(http, HttpResponseStatus.SERVICE_UNAVAILABLE, message);
            case Admission.Admitted(var caller) -> {
                http.admitted();
                yield next.apply(caller);
            }
        };
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
