package dev.sandglass.api.watch;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** As much of an API server as one informer needs: it lists what it is given and sends, to the watch, what it is given. */
final class WatchedApi implements AutoCloseable {

    private static final byte[] END = {};
    private static final String LIST =
            "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [%s]}";

    private final HttpServer server;
    private final BlockingQueue<BlockingQueue<byte[]>> opened = new LinkedBlockingQueue<>();
    private final AtomicInteger lists = new AtomicInteger();
    private volatile BlockingQueue<byte[]> chunks = new LinkedBlockingQueue<>();
    private volatile String items = "";

    WatchedApi() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** How often it was asked for a list. */
    int lists() {
        return lists.get();
    }

    /** What lists hold from now on: objects in JSON. */
    void hold(String... objects) {
        items = String.join(",", objects);
    }

    /** Waits until the client watches; each watch is waited for once. What is sent from then on goes to it. */
    void awaitWatch() throws InterruptedException {
        chunks = Objects.requireNonNull(opened.poll(20, TimeUnit.SECONDS), "no watch within 20 s");
    }

    /** Sends a text and a line's end to the watch, in chunks of so many bytes. */
    void send(String text, int chunk) {
        byte[] bytes = (text + "\n").getBytes(StandardCharsets.UTF_8);
        for (int from = 0; from < bytes.length; from += chunk) {
            chunks.add(Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + chunk)));
        }
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            if (String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true")) {
                exchange.sendResponseHeaders(200, 0);
                BlockingQueue<byte[]> own = new LinkedBlockingQueue<>();
                opened.add(own);
                stream(own, exchange.getResponseBody());
            } else {
                lists.incrementAndGet();
                byte[] list = LIST.formatted(items).getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, list.length);
                exchange.getResponseBody().write(list);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void stream(BlockingQueue<byte[]> chunks, OutputStream out)
            throws IOException, InterruptedException {
        out.flush();
        for (byte[] chunk = chunks.take(); chunk.length > 0; chunk = chunks.take()) {
            out.write(chunk);
            out.flush();
        }
    }

    @Override
    public void close() {
        chunks.add(END);
        server.stop(0);
    }
}
