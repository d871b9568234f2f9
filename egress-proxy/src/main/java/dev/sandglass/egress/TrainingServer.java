package dev.sandglass.egress;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/** As much of an API server as the egress proxy needs: it lists one sandbox, whose pod is this machine, and nothing changes. */
final class TrainingServer implements AutoCloseable {

    static final String NAMESPACE = "training";

    private static final String POD = "training-1";

    private static final String UID = "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80";

    private final HttpServer server;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Map<String, String> answers;

    /**
     * Answers at once, on a port of its own.
     *
     * @param allowedDomain the one entry of the sandbox's list
     */
    TrainingServer(String allowedDomain) throws IOException {
        answers = Map.of(
                "sandboxes",
                list("sandglass.dev/v1alpha1", "SandboxList", sandbox(allowedDomain)),
                "pods",
                list("v1", "PodList", pod()),
                POD,
                pod());
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private static String sandbox(String allowedDomain) {
        return """
                {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "training",
                 "namespace": "training", "uid": "%s", "resourceVersion": "1"}, "spec": {"allowedDomains": ["%s"]}}
                """.formatted(UID, allowedDomain);
    }

    private static String pod() {
        return """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "namespace": "training",
                 "uid": "1b0c4a1e-5d0f-4f60-9d37-6f1f3c0a9b11", "resourceVersion": "1",
                 "labels": {"app.kubernetes.io/component": "sandbox"}, "ownerReferences": [{"apiVersion":
                 "sandglass.dev/v1alpha1", "kind": "Sandbox", "name": "training", "uid": "%s", "controller": true}]},
                 "status": {"phase": "Running", "podIPs": [{"ip": "127.0.0.1"}]}}
                """.formatted(POD, UID);
    }

    private static String list(String apiVersion, String kind, String item) {
        return "{\"apiVersion\": \"%s\", \"kind\": \"%s\", \"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [%s]}"
                .formatted(apiVersion, kind, item);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            if (String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true")) {
                exchange.sendResponseHeaders(200, 0);
                closed.await();
            } else {
                byte[] body = answers.getOrDefault(path.substring(path.lastIndexOf('/') + 1), "{}")
                        .getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type", "application/json");
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }
}
