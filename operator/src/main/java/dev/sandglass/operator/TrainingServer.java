package dev.sandglass.operator;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** As much of an API server as one start of a sandbox needs: it lists one sandbox and accepts whatever is written. */
final class TrainingServer implements AutoCloseable {

    static final String NAMESPACE = "training";
    static final String EGRESS_SERVICE = "egress-proxy";

    private static final String SANDBOX = """
            {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "training",
             "namespace": "training", "uid": "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80", "generation": 1,
             "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"env": [{"name": "A"}]}}
            """;

    private static final Map<String, String> LISTS = Map.of(
            "sandboxes",
            list("sandglass.dev/v1alpha1", "SandboxList", SANDBOX),
            "pods",
            list("v1", "PodList", ""),
            "persistentvolumeclaims",
            list("v1", "PersistentVolumeClaimList", ""),
            "leases",
            list("coordination.k8s.io/v1", "LeaseList", ""),
            "networkpolicies",
            list("networking.k8s.io/v1", "NetworkPolicyList", ""),
            EGRESS_SERVICE,
            "{\"apiVersion\": \"v1\", \"kind\": \"Service\", \"spec\": {\"clusterIP\": \"192.0.2.1\"}}");

    private final HttpServer server;
    private final CountDownLatch statusWritten = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    TrainingServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns as soon as the operator has written a status. */
    void awaitStatus(Duration atMost) throws IOException, InterruptedException {
        if (!statusWritten.await(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IOException("The operator wrote no status within " + atMost);
        }
    }

    private static String list(String apiVersion, String kind, String item) {
        return "{\"apiVersion\": \"%s\", \"kind\": \"%s\", \"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [%s]}"
                .formatted(apiVersion, kind, item);
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String path = exchange.getRequestURI().getPath();
            if (!"GET".equals(exchange.getRequestMethod())) {
                answer(exchange, 201, accepted(exchange));
                if (path.endsWith("/status")) {
                    statusWritten.countDown();
                }
            } else if ("websocket".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Upgrade"))) {
                // No WebSocket here; the client then watches over plain HTTP.
                exchange.sendResponseHeaders(200, -1);
            } else if (String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true")) {
                exchange.sendResponseHeaders(200, 0);
                closed.await();
            } else {
                answer(exchange, 200, LISTS.getOrDefault(path.substring(path.lastIndexOf('/') + 1), "{}"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String accepted(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        GenericKubernetesResource resource = Serialization.unmarshal(body, GenericKubernetesResource.class);
        resource.getMetadata().setUid(UUID.randomUUID().toString());
        resource.getMetadata().setResourceVersion("2");
        resource.getMetadata().setCreationTimestamp(Instant.now().toString());
        return Serialization.asJson(resource);
    }

    private static void answer(HttpExchange exchange, int code, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }
}
