package dev.sandglass.gateway;

import dev.sandglass.gateway.http.LingeringClose;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.HttpServerRoutes;

/**
 * What the gateway answers without a key: load balancers ask {@code /} or {@code /healthz} of the port that they send callers
 * to, and people open the address in a browser. It says nothing but what this is.
 */
final class FrontPage implements UnaryOperator<HttpServerRoutes> {

    private static final Map<String, String> PAGES =
            Map.of("/", "Sandglass: the MCP endpoint is at /mcp.\n", "/healthz", "ok\n");

    private static final Pattern QUERY = Pattern.compile("[?#].*", Pattern.DOTALL);

    @Override
    public HttpServerRoutes apply(HttpServerRoutes routes) {
        return routes.route(request -> isRead(request.method()) && PAGES.containsKey(path(request)), FrontPage::serve);
    }

    private static boolean isRead(HttpMethod method) {
        return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
    }

    private static String path(HttpServerRequest request) {
        Matcher query = QUERY.matcher(request.uri());
        return query.replaceFirst("");
    }

    private static Publisher<Void> serve(HttpServerRequest request, HttpServerResponse response) {
        byte[] page = PAGES.getOrDefault(path(request), "").getBytes(StandardCharsets.US_ASCII);
        response.header(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
                .header(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(page.length))
                .header(HttpHeaderNames.CACHE_CONTROL, "no-store")
                .header("X-Content-Type-Options", "nosniff");
        LingeringClose.unlessRead(request, response);
        return request.method().equals(HttpMethod.HEAD)
                ? response.send()
                : response.send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(page)));
    }
}
