package dev.sandglass.gateway.caller;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Refuses requests that a web page sends, unless its origin is allowed. MCP demands it against DNS rebinding (2026-07-28,
 * streamable HTTP, "Security and endpoint"): the page's host name then equals ours, so that the usual same-origin rule
 * would let it pass. Programs send no {@code Origin} and are not concerned.
 */
final class OriginFilter implements WebFilter, Ordered {

    private static final String ALLOWED_HEADERS =
            "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name";

    private final Set<String> allowed;

    OriginFilter(Set<String> allowed) {
        this.allowed = Set.copyOf(allowed);
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        HttpHeaders request = exchange.getRequest().getHeaders();
        @Nullable String origin = request.getFirst(HttpHeaders.ORIGIN);
        if (origin == null) {
            return chain.filter(exchange);
        }
        if (!allowed.contains(origin)) {
            return HttpRefusal.write(exchange, HttpStatus.FORBIDDEN, "Forbidden: this origin is not allowed");
        }
        HttpHeaders response = exchange.getResponse().getHeaders();
        response.setAccessControlAllowOrigin(origin);
        response.add(HttpHeaders.VARY, HttpHeaders.ORIGIN);
        response.set(HttpHeaders.ACCESS_CONTROL_EXPOSE_HEADERS, HttpHeaders.WWW_AUTHENTICATE);
        if (exchange.getRequest().getMethod().equals(HttpMethod.OPTIONS)) {
            response.set(HttpHeaders.ACCESS_CONTROL_ALLOW_METHODS, HttpMethod.POST.name());
            response.set(HttpHeaders.ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
            exchange.getResponse().setStatusCode(HttpStatus.NO_CONTENT);
            return exchange.getResponse().setComplete();
        }
        return chain.filter(exchange);
    }
}
