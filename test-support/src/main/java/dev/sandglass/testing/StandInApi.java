package dev.sandglass.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * As much of an API server as one of our programs needs while it learns what its AOT cache keeps. It lists and watches the
 * objects that it was given, and checks nothing. It accepts whatever is written; a merge patch changes the object that it
 * names, and the status then speaks of the change, as if an operator had seen it at once.
 */
public final class StandInApi implements AutoCloseable {

    private static final Map<String, String> KINDS = Map.of(
            "sandboxes", "Sandbox",
            "sandboxtoolservers", "SandboxToolServer",
            "pods", "Pod",
            "services", "Service",
            "persistentvolumeclaims", "PersistentVolumeClaim",
            "leases", "Lease",
            "networkpolicies", "NetworkPolicy");

    private static final String VERSION = """
        {"major": "1", "minor": "34", "gitVersion": "v1.34.0", "gitCommit": "0", "gitTreeState": "clean",\
         "buildDate": "2026-01-01T00:00:00Z", "goVersion": "go", "compiler": "gc", "platform": "linux"}\
        """;

    private static final String NOT_FOUND = """
        {"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}\
        """;

    private final HttpServer server;
    private final Map<String, GenericKubernetesResource> objects = new ConcurrentHashMap<>();
    private final List<Watch> watches = new CopyOnWriteArrayList<>();
    private final LinkedBlockingQueue<String> written = new LinkedBlockingQueue<>();
    private final AtomicLong version = new AtomicLong(1);

    private record Watch(String plural, LinkedBlockingQueue<String> events) {}

    /** A request's path without group, version and namespace: {@code pods}, {@code pods/a}, {@code pods/a/status}. */
    private record Place(String apiVersion, String plural, String name, String part) {

        static Place of(String path) {
            List<String> words = List.of(path.substring(1).split("/"));
            int resource = words.getFirst().equals("apis") ? 3 : 2;
            if (words.size() > resource + 2 && words.get(resource).equals("namespaces")) {
                resource += 2;
            }
            return new Place(
                    words.getFirst().equals("apis") ? words.get(1) + "/" + words.get(2) : "v1",
                    word(words, resource),
                    word(words, resource + 1),
                    word(words, resource + 2));
        }

        private static String word(List<String> words, int index) {
            return index < words.size() ? words.get(index) : "";
        }

        String key() {
            return plural + "/" + name;
        }
    }

    /** Answers at once, on a free port of loopback. */
    public StandInApi() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    /** Has that object from now on; its kind is one of the few that our programs ask for. */
    public StandInApi holding(String json) {
        GenericKubernetesResource object = Serialization.unmarshal(json, GenericKubernetesResource.class);
        String plural = KINDS.entrySet().stream()
                .filter(kind -> kind.getValue().equals(object.getKind()))
                .findFirst()
                .orElseThrow()
                .getKey();
        objects.put(plural + "/" + object.getMetadata().getName(), object);
        return this;
    }

    /** The variables with which a program's client finds this and nothing else. */
    public Map<String, String> environment() {
        return Map.of(
                "KUBERNETES_MASTER",
                "http://127.0.0.1:" + server.getAddress().getPort(),
                "KUBERNETES_AUTH_TRYKUBECONFIG",
                "false",
                "KUBERNETES_AUTH_TRYSERVICEACCOUNT",
                "false",
                "NO_PROXY",
                "127.0.0.1");
    }

    /** Paths of what was written, in order, without group and namespace, as {@code sandboxes/a/status}. */
    public LinkedBlockingQueue<String> written() {
        return written;
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (exchange.getRequestURI().getPath().startsWith("/version")) {
                answer(exchange, 200, VERSION);
                return;
            }
            Place place = Place.of(exchange.getRequestURI().getPath());
            if (place.plural().isEmpty()) {
                answer(exchange, 200, kinds(place));
            } else if (!"GET".equals(exchange.getRequestMethod())) {
                answer(exchange, "POST".equals(exchange.getRequestMethod()) ? 201 : 200, write(exchange, place));
                written.add(place.key() + (place.part().isEmpty() ? "" : "/" + place.part()));
            } else if (String.valueOf(exchange.getRequestURI().getQuery()).contains("watch=true")) {
                watch(exchange, new Watch(place.plural(), new LinkedBlockingQueue<>()));
            } else if (place.name().isEmpty() && KINDS.containsKey(place.plural())) {
                answer(exchange, 200, list(place));
            } else {
                GenericKubernetesResource object = objects.get(place.key());
                answer(exchange, object == null ? 404 : 200, object == null ? NOT_FOUND : Serialization.asJson(object));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void watch(HttpExchange exchange, Watch watch) throws IOException, InterruptedException {
        watches.add(watch);
        try {
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, 0);
            while (true) {
                exchange.getResponseBody().write(watch.events().take().getBytes(StandardCharsets.UTF_8));
                exchange.getResponseBody().flush();
            }
        } finally {
            watches.remove(watch);
        }
    }

    /** All of them in each group: our programs look for those that they know. */
    private static String kinds(Place group) {
        return "{\"apiVersion\": \"v1\", \"kind\": \"APIResourceList\", \"groupVersion\": \"%s\", \"resources\": [%s]}"
                .formatted(
                        group.apiVersion(),
                        KINDS.entrySet().stream()
                                .map(kind -> "{\"name\": \"%s\", \"kind\": \"%s\", \"namespaced\": true}"
                                        .formatted(kind.getKey(), kind.getValue()))
                                .collect(Collectors.joining(",")));
    }

    private String list(Place place) {
        return "{\"apiVersion\": \"%s\", \"kind\": \"%sList\", \"metadata\": {\"resourceVersion\": \"%d\"}, \"items\": [%s]}"
                .formatted(
                        place.apiVersion(),
                        KINDS.get(place.plural()),
                        version.get(),
                        objects.entrySet().stream()
                                .filter(entry -> entry.getKey().startsWith(place.plural() + "/"))
                                .map(entry -> Serialization.asJson(entry.getValue()))
                                .collect(Collectors.joining(",")));
    }

    private String write(HttpExchange exchange, Place place) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        GenericKubernetesResource sent = Serialization.unmarshal(body, GenericKubernetesResource.class);
        String type = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
        GenericKubernetesResource present = objects.get(place.key());
        if (present != null && place.part().isEmpty() && type.startsWith("application/merge-patch+json")) {
            return Serialization.asJson(merged(place, present, sent));
        }
        sent.getMetadata().setUid(UUID.randomUUID().toString());
        sent.getMetadata().setResourceVersion(Long.toString(version.incrementAndGet()));
        sent.getMetadata().setCreationTimestamp(Instant.now().toString());
        return Serialization.asJson(sent);
    }

    private synchronized GenericKubernetesResource merged(
            Place place, GenericKubernetesResource present, GenericKubernetesResource change) {
        GenericKubernetesResource after =
                Serialization.unmarshal(Serialization.asJson(present), GenericKubernetesResource.class);
        after.setAdditionalProperty("spec", merged(present.get("spec"), change.get("spec")));
        long generation = present.getMetadata().getGeneration() + 1;
        after.getMetadata().setGeneration(generation);
        after.getMetadata().setResourceVersion(Long.toString(version.incrementAndGet()));
        after.setAdditionalProperty("status", merged(present.get("status"), Map.of("observedGeneration", generation)));
        objects.put(place.key(), after);
        String event = "{\"type\": \"MODIFIED\", \"object\": %s}\n".formatted(Serialization.asJson(after));
        watches.stream().filter(watch -> watch.plural().equals(place.plural())).forEach(watch -> watch.events()
                .add(event));
        return after;
    }

    private static Map<String, Object> merged(Map<String, Object> before, Map<String, Object> change) {
        Map<String, Object> after = new LinkedHashMap<>(before);
        after.putAll(change);
        return after;
    }

    private static void answer(HttpExchange exchange, int code, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(code, body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
