package dev.sandglass.operator.training;

import dev.sandglass.testing.StandInApi;
import dev.sandglass.testing.TrainedProgram;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * One sandbox's start by the operator before a stand-in for the API server, so that the virtual machine sees the code that a
 * start needs and can store it in the image's AOT cache. The build of the image runs this beside the operator. It fails if
 * the start does.
 */
public final class Training {

    private static final String NAMESPACE = "training";
    private static final String EGRESS_SERVICE = "egress-proxy";

    private static final String SANDBOX = """
        {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "training",
         "namespace": "training", "uid": "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80", "generation": 1,
         "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"env": [{"name": "A"}]}}
        """;

    private static final String SERVICE = """
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "egress-proxy", "namespace": "sandglass-system",
         "uid": "3d9a0c1e-0f4b-4a7e-9b8e-5c2f6a7b8c90", "resourceVersion": "1"}, "spec": {"clusterIP": "192.0.2.1"}}
        """;

    private Training() {}

    /**
     * Ends with an exception unless the operator works and ends as it should.
     *
     * @param command the operator's: Java, its options and its main class
     */
    public static void main(String[] command) throws IOException, InterruptedException {
        Path secret = Files.writeString(
                Files.createTempFile("training", ".secret"), "nothing but training is done with this");
        int port = TrainedProgram.freePort();
        try (StandInApi api = new StandInApi().holding(SANDBOX).holding(SERVICE);
                TrainedProgram operator = TrainedProgram.start(List.of(command), environment(api, secret, port));
                HttpClient http = HttpClient.newHttpClient()) {
            for (String path : List.of("livez", "readyz", "metrics")) {
                operator.awaitOk(http, URI.create("http://127.0.0.1:" + port + "/" + path));
            }
            awaitStatus(api);
            operator.end();
        } finally {
            Files.delete(secret);
        }
    }

    private static Map<String, String> environment(StandInApi api, Path secret, int port) {
        Map<String, String> environment = new HashMap<>(api.environment());
        environment.putAll(Map.of(
                "OPERATOR_NAMESPACES",
                NAMESPACE,
                "OPERATOR_DEFAULT_IMAGE",
                "registry.example.com/sandglass/kernel:1",
                "OPERATOR_LINK_SECRET_FILE",
                secret.toString(),
                "OPERATOR_GATEWAY_NAMESPACE",
                "sandglass-system",
                "OPERATOR_HTTP_PORT",
                Integer.toString(port),
                "EGRESS_SERVICE",
                EGRESS_SERVICE,
                "EGRESS_SECRET_FILE",
                secret.toString()));
        return environment;
    }

    private static void awaitStatus(StandInApi api) throws IOException, InterruptedException {
        String written = "";
        while (!written.equals("sandboxes/training/status")) {
            written = api.written().poll(30, TimeUnit.SECONDS);
            if (written == null) {
                throw new IOException("The operator wrote no status within 30 s of what it wrote before");
            }
        }
    }
}
