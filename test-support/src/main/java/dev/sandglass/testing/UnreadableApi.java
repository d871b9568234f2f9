package dev.sandglass.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An API server whose first watch of sandboxes sends two events with text beyond ASCII, byte by byte, and then one that nothing can
 * read. Its first list is empty, and the next one has a third sandbox.
 */
public final class UnreadableApi implements AutoCloseable {

    /** Of the sandboxes. */
    public static final String NAMESPACE = "tenant";
    /** What the sandboxes have in an annotation. */
    public static final String TEXT = "caf\u00e9 \u6f22 \ud83c\udf27";

    private final HttpServer server;
    private final AtomicInteger lists = new AtomicInteger();
    private final AtomicInteger watches = new AtomicInteger();
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Answers at once, on a free port of loopback. */
    public UnreadableApi() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    /** Where it listens. */
    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** How often sandboxes were listed. */
    public int lists() {
        return lists.get();
    }

    /** Sends the event that cannot be read. */
    public void sendTheUnreadable() {
        asked.countDown();
    }

    /** The UID of the sandbox of that name. */
    public static String uid(String name) {
        return "uid-of-" + name;
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            boolean sandboxes = exchange.getRequestURI().getPath().endsWith("/sandboxes");
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            if (String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true")) {
                exchange.sendResponseHeaders(200, 0);
                if (sandboxes && watches.incrementAndGet() == 1) {
                    OutputStream out = exchange.getResponseBody();
                    send(out, event("one"));
                    send(out, event("two"));
                    asked.await();
                    send(out, "{\"type\": \"MODIFIED\", \"object\": {\"secret\"");
                }
                closed.await();
            } else {
                String items = sandboxes && lists.incrementAndGet() > 1 ? sandbox("three") : "";
                byte[] list =
                        "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [%s]}"
                                .formatted(items)
                                .getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, list.length);
                exchange.getResponseBody().write(list);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(OutputStream out, String line) throws IOException {
        for (byte next : (line + "\n").getBytes(StandardCharsets.UTF_8)) {
            out.write(next);
            out.flush();
        }
    }

    private static String event(String name) {
        return "{\"type\": \"ADDED\", \"object\": %s}".formatted(sandbox(name));
    }

    private static String sandbox(String name) {
        return """
                {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "%s", "namespace": "%s",\
                 "uid": "%s", "generation": 1, "resourceVersion": "2", "creationTimestamp": "2026-01-01T00:00:00Z",\
                 "annotations": {"sandglass.dev/given-name": "%s"}}, "spec": {}}""".formatted(name, NAMESPACE, uid(name), TEXT);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }
}
