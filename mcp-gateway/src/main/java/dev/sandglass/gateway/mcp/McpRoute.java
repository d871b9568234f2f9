package dev.sandglass.gateway.mcp;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.Offer;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.http.Framing;
import dev.sandglass.gateway.http.LingeringClose;
import dev.sandglass.gateway.quota.ByteBudget;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseCookie;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.HttpServerRoutes;

/**
 * The endpoint: a functional route of WebFlux behind one filter (ADR-0021), on the paths of the contracts in Reactor Netty's
 * server. The management port, which has a WebFlux of its own, does not see it.
 */
public final class McpRoute implements UnaryOperator<HttpServerRoutes> {

    /**
     * Who may enter.
     *
     * @param callers known by their credentials
     * @param access to whose tenants
     * @param allowedOrigins of web pages that may call
     */
    public record Entrants(Callers callers, TenantAccess access, Set<String> allowedOrigins) {}

    private static final String NOTHING_HERE =
            "Not found: nothing is served at this path with this method; POST MCP's messages to /mcp";

    private static final String ONLY_POST =
            "Method not allowed: POST one message of JSON-RPC; there is no stream to GET";

    private static final String POST_OR_DELETE =
            ONLY_POST + ", and DELETE ends the session that the header " + Client.SESSION + " names";

    private static final String NO_URI = "the URL is none: write characters such as | and ^ as %7C and %5E";

    private final ContractPaths contracts;
    private final McpEndpoint endpoint;
    private final ReactorHttpHandlerAdapter flux;

    private McpRoute(ContractPaths contracts, McpEndpoint endpoint, WebFilter entrance) {
        this.contracts = contracts;
        this.endpoint = endpoint;
        this.flux = new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                RouterFunctions.route(RequestPredicates.all(), this::serve),
                HandlerStrategies.builder().webFilter(entrance).build()));
    }

    /**
     * Serves the contracts, each at its path.
     *
     * @param version of this gateway, for clients
     * @param others that cancellations are passed on to
     */
    public static McpRoute of(
            List<Contract> contracts,
            Entrants entrants,
            McpSettings settings,
            String version,
            CancellationRelay others,
            MeterRegistry meters) {
        var audit = new AuditLog(entrants.access(), meters, System::nanoTime);
        var paths = new ContractPaths(contracts);
        paths.all().forEach(contract -> {
            Offer offer = contract.offer(Query.NONE);
            String name = ContractPaths.nameOf(contract);
            contract.tools().forEach(tool -> audit.expect(name, tool));
            offer.resources().ifPresent(_ -> audit.expect(name, ResourceMethods.LIST));
            offer.resources().ifPresent(_ -> audit.expect(name, ResourceMethods.READ));
            offer.completions().ifPresent(_ -> audit.expect(name, ResourceMethods.COMPLETE));
            contract.sessions(Query.NONE).ifPresent(_ -> audit.expect(name, SessionEnds.DEED));
        });
        var endpoint = new McpEndpoint(paths, audit, version, settings, others);
        return new McpRoute(paths, endpoint, new RequestAuthenticator(entrants, endpoint, meters));
    }

    /** What the bodies of requests under way hold. */
    public ByteBudget bodies() {
        return endpoint.bodies();
    }

    @Override
    public HttpServerRoutes apply(HttpServerRoutes routes) {
        return routes.route(request -> contracts.at(request.uri()).isPresent(), this::serve);
    }

    /** Answers what no route before it has taken, in the form of the endpoint. */
    public HttpServerRoutes elsewhere(HttpServerRoutes routes) {
        HttpResponseStatus status = HttpResponseStatus.NOT_FOUND;
        byte[] nothingHere = endpoint.written(McpError.refused(status, NOTHING_HERE));
        return routes.route(_ -> true, (request, response) -> refuse(request, response, status, nothingHere));
    }

    /** A refusal as the endpoint writes them, for requests that do not reach it. */
    public byte[] refusal(HttpResponseStatus status, String words) {
        return endpoint.written(McpError.refused(status, "Invalid request: " + words));
    }

    private Mono<Void> serve(HttpServerRequest request, HttpServerResponse response) {
        return isUri(request.uri())
                ? flux.apply(request, response)
                : refuse(
                        request,
                        response,
                        HttpResponseStatus.BAD_REQUEST,
                        endpoint.written(McpError.invalidRequest(NO_URI)));
    }

    /** To WebFlux, which answers others without a word. */
    private static boolean isUri(String target) {
        try {
            return !new URI(target).toString().isEmpty();
        } catch (URISyntaxException odd) {
            return false;
        }
    }

    private static Mono<Void> refuse(
            HttpServerRequest request, HttpServerResponse response, HttpResponseStatus status, byte[] error) {
        Framing.fit(request, response);
        LingeringClose.unlessRead(request, response);
        return response.status(status)
                .header(HttpHeaderNames.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE)
                .header(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(error.length))
                .header(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .header("X-Content-Type-Options", "nosniff")
                .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(error)))
                .then();
    }

    private Mono<ServerResponse> serve(ServerRequest request) {
        var admitted = RequestAuthenticator.Admitted.of(request.exchange().getAttributes());
        return Mono.just(new WrittenResponse(() -> serve(admitted.http(), admitted.caller())));
    }

    private Mono<Void> serve(HttpExchange http, Caller caller) {
        if (http.method().equals(HttpMethod.POST)) {
            return endpoint.post(http, caller);
        }
        boolean hasEnds;
        try {
            hasEnds = endpoint.hasSessions(http);
        } catch (McpError problem) {
            return endpoint.error(http, problem, null);
        }
        if (hasEnds && http.method().equals(HttpMethod.DELETE) && http.header(Client.SESSION) != null) {
            return endpoint.endSession(http, caller);
        }
        // There is no stream to open; of our own contract's session there is nothing but its name, so that it has no
        // end (2026-07-28, streamable HTTP, "Backward compatibility"; 2025-11-25, "Session management", 5).
        http.add(HttpHeaderNames.ALLOW, hasEnds ? "POST, DELETE" : HttpMethod.POST.name());
        String words = hasEnds ? POST_OR_DELETE : ONLY_POST;
        return endpoint.error(http, McpError.refused(HttpResponseStatus.METHOD_NOT_ALLOWED, words), null);
    }

    /** An answer that the endpoint writes by itself: its status is known only when it has one. */
    private record WrittenResponse(Supplier<Mono<Void>> writing) implements ServerResponse {
        @Override
        public HttpStatusCode statusCode() {
            return HttpStatus.OK;
        }

        @Override
        public HttpHeaders headers() {
            return HttpHeaders.EMPTY;
        }

        @Override
        public MultiValueMap<String, ResponseCookie> cookies() {
            return new LinkedMultiValueMap<>();
        }

        @Override
        public Mono<Void> writeTo(ServerWebExchange exchange, Context context) {
            return writing.get();
        }
    }
}
