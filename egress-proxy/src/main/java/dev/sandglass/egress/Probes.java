package dev.sandglass.egress;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * The egress proxy's own small HTTP server. {@code /livez} says that the process answers, and deliberately no more: an API
 * server that is down is no reason to restart the proxy. {@code /readyz} says that sandboxes may come, or why not.
 */
final class Probes implements AutoCloseable {

    private final HttpServer server;

    Probes(int port, Supplier<Optional<String>> obstacle, PrometheusMeterRegistry metrics) throws IOException {
        server = HttpServer.create(new InetSocketAddress(port), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/livez", exchange -> answer(exchange, 200, "ok\n"));
        server.createContext("/readyz", exchange -> {
            Optional<String> now = obstacle.get();
            answer(exchange, now.isEmpty() ? 200 : 503, now.orElse("ok") + "\n");
        });
        server.createContext("/metrics", exchange -> answer(exchange, 200, metrics.scrape()));
        server.start();
    }

    /** The port it listens on; of interest if 0 was asked for. */
    int port() {
        return server.getAddress().getPort();
    }

    private static void answer(HttpExchange exchange, int code, String text) throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            exchange.sendResponseHeaders(code, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
