package dev.sandglass.gateway.caller;

import java.security.Principal;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.ReactiveAuthenticationManager;
import org.springframework.security.config.web.server.SecurityWebFiltersOrder;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.security.web.server.ServerAuthenticationEntryPoint;
import org.springframework.security.web.server.authentication.AuthenticationWebFilter;
import org.springframework.security.web.server.authentication.ServerAuthenticationEntryPointFailureHandler;
import org.springframework.security.web.server.context.NoOpServerSecurityContextRepository;
import org.springframework.security.web.server.savedrequest.NoOpServerRequestCache;
import org.springframework.security.web.server.util.matcher.PathPatternParserServerWebExchangeMatcher;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * The filter chain: every request to the endpoint carries a bearer token, nothing is remembered between requests. Health
 * and metrics, on the management port, are open; everything else is closed.
 */
public final class CallerSecurity {

    private static final String BEARER = "Bearer ";

    private CallerSecurity() {}

    /** Finds the caller of a token in Spring Security's terms. */
    public static ReactiveAuthenticationManager authenticationManager(Callers callers) {
        return token -> {
            Optional<Caller> caller =
                    token instanceof CallerToken presented ? callers.callerOf(presented.presented()) : Optional.empty();
            return caller.<Mono<Authentication>>map(known -> Mono.just(CallerToken.of(known)))
                    .orElseGet(() -> Mono.error(new BadCredentialsException("unknown token")));
        };
    }

    /** The chain of all requests. */
    public static SecurityWebFilterChain chain(ServerHttpSecurity http, ReactiveAuthenticationManager manager) {
        ServerAuthenticationEntryPoint entryPoint = CallerSecurity::unauthorized;
        var authentication = new AuthenticationWebFilter(manager);
        authentication.setServerAuthenticationConverter(
                exchange -> Mono.just(CallerToken.presented(bearerToken(exchange))));
        authentication.setRequiresAuthenticationMatcher(new PathPatternParserServerWebExchangeMatcher("/mcp"));
        authentication.setAuthenticationFailureHandler(new ServerAuthenticationEntryPointFailureHandler(entryPoint));
        authentication.setSecurityContextRepository(NoOpServerSecurityContextRepository.getInstance());
        return http.csrf(ServerHttpSecurity.CsrfSpec::disable)
                .httpBasic(ServerHttpSecurity.HttpBasicSpec::disable)
                .formLogin(ServerHttpSecurity.FormLoginSpec::disable)
                .logout(ServerHttpSecurity.LogoutSpec::disable)
                // The others are for browsers that show pages; here are none. What is answered is never to be kept or
                // guessed at.
                .headers(headers -> headers.frameOptions(ServerHttpSecurity.HeaderSpec.FrameOptionsSpec::disable)
                        .xssProtection(ServerHttpSecurity.HeaderSpec.XssProtectionSpec::disable)
                        .hsts(ServerHttpSecurity.HeaderSpec.HstsSpec::disable))
                .requestCache(cache -> cache.requestCache(NoOpServerRequestCache.getInstance()))
                .securityContextRepository(NoOpServerSecurityContextRepository.getInstance())
                .exceptionHandling(handling -> handling.authenticationEntryPoint(entryPoint))
                .addFilterAt(authentication, SecurityWebFiltersOrder.AUTHENTICATION)
                .authorizeExchange(paths -> paths.pathMatchers("/mcp")
                        .authenticated()
                        .pathMatchers("/actuator/health/**", "/actuator/health", "/actuator/prometheus")
                        .permitAll()
                        .anyExchange()
                        .denyAll())
                .build();
    }

    /** The caller whom the chain found. */
    public static Caller callerOf(Principal principal) {
        if (principal instanceof CallerToken token && token.getPrincipal() instanceof Caller caller) {
            return caller;
        }
        throw new IllegalStateException("the filter chain let a request without caller pass");
    }

    /** Refuses origins that are not allowed, before anything else looks at the request. */
    public static WebFilter originFilter(Set<String> allowedOrigins) {
        return new OriginFilter(allowedOrigins);
    }

    private static String bearerToken(ServerWebExchange exchange) {
        HttpHeaders headers = exchange.getRequest().getHeaders();
        @Nullable String header = headers.getFirst(HttpHeaders.AUTHORIZATION);
        return header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? header.substring(BEARER.length()).strip()
                : "";
    }

    private static Mono<Void> unauthorized(ServerWebExchange exchange, AuthenticationException problem) {
        boolean presented = !bearerToken(exchange).isEmpty();
        exchange.getResponse()
                .getHeaders()
                .set(
                        HttpHeaders.WWW_AUTHENTICATE,
                        presented
                                ? "Bearer realm=\"sandglass\", error=\"invalid_token\""
                                : "Bearer realm=\"sandglass\"");
        return HttpRefusal.write(
                exchange,
                HttpStatus.UNAUTHORIZED,
                presented
                        ? "Unauthorized: this API key is not known"
                        : "Unauthorized: send an API key as bearer token");
    }
}
