package dev.sandglass.egress.training;

import dev.sandglass.testing.StandInApi;
import dev.sandglass.testing.TrainedProgram;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tunnels, requests and refusals of the egress proxy before a stand-in for the API server, so that the virtual machine sees
 * the code that they need and can store it in the image's AOT cache. The build of the image runs this beside the proxy. It
 * fails if the proxy does not answer as it should.
 */
public final class Training {

    private static final Duration AT_MOST = Duration.ofSeconds(30);
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final int ROUNDS = 20;
    private static final String UID = "7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80";

    private static final String SANDBOX = """
        {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "metadata": {"name": "training",
         "namespace": "training", "uid": "%s", "generation": 1, "resourceVersion": "1"},
         "spec": {"allowedDomains": ["%s"]}}
        """;

    /** The sandbox's pod is this machine. */
    private static final String POD = """
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "sbx-%s-1", "namespace": "training",
         "uid": "1b0c4a1e-5d0f-4f60-9d37-6f1f3c0a9b11", "resourceVersion": "1",
         "labels": {"app.kubernetes.io/component": "sandbox"}, "ownerReferences": [{"apiVersion":
         "sandglass.dev/v1alpha1", "kind": "Sandbox", "name": "training", "uid": "%s", "controller": true}]},
         "status": {"phase": "Running", "podIPs": [{"ip": "127.0.0.1"}]}}
        """;

    private Training() {}

    /**
     * Ends with an exception unless the proxy answers and ends as it should.
     *
     * @param command the proxy's: Java, its options and its main class
     */
    public static void main(String[] command) throws IOException, InterruptedException {
        Path secret = Files.writeString(
                Files.createTempFile("training", ".secret"), "nothing but training is done with this");
        int port = TrainedProgram.freePort();
        int probes = TrainedProgram.freePort();
        try (ServerSocket origin = new ServerSocket(0, 10, HERE)) {
            String target = HERE.getHostAddress() + ":" + origin.getLocalPort();
            Thread.startVirtualThread(() -> greet(origin));
            try (StandInApi api = new StandInApi()
                            .holding(SANDBOX.formatted(UID, target))
                            .holding(POD.formatted(UID, UID));
                    TrainedProgram proxy =
                            TrainedProgram.start(List.of(command), environment(api, secret, port, probes));
                    HttpClient http = HttpClient.newHttpClient()) {
                proxy.awaitOk(http, URI.create("http://127.0.0.1:" + probes + "/livez"));
                awaitOpen(port, target);
                // Whether it is ready depends on the builder's resolver.
                expect("HTTP/1.", probes, "GET /readyz HTTP/1.0\r\n\r\n");
                for (int round = 0; round < ROUNDS; round++) {
                    expect("HTTP/1.1 200", port, "CONNECT " + target + " HTTP/1.1\r\n\r\n");
                    expect("HTTP/1.1 403", port, "CONNECT example.com:443 HTTP/1.1\r\n\r\n");
                    expect("HTTP/1.1 200", port, "GET http://" + target + "/ HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
                }
                expect("HTTP/1.1 200", probes, "GET /metrics HTTP/1.0\r\n\r\n");
                proxy.end();
            }
        } finally {
            Files.delete(secret);
        }
    }

    private static Map<String, String> environment(StandInApi api, Path secret, int port, int probes)
            throws IOException {
        Map<String, String> environment = new HashMap<>(api.environment());
        environment.putAll(Map.of(
                "EGRESS_NAMESPACES", "training",
                "EGRESS_SECRET_FILE", secret.toString(),
                "EGRESS_MAX_NEW_TUNNELS", "10000",
                "EGRESS_ALLOWED_RANGES", HERE.getHostAddress(),
                "EGRESS_PORT", Integer.toString(port),
                "EGRESS_HTTP_PORT", Integer.toString(probes),
                "EGRESS_DENIALS_PORT", Integer.toString(TrainedProgram.freePort())));
        return environment;
    }

    /** What an allowed host answers, to a tunnel's first byte and to a request alike. */
    private static void greet(ServerSocket origin) {
        while (true) {
            try (Socket caller = origin.accept()) {
                caller.getOutputStream()
                        .write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void awaitOpen(int port, String target) throws IOException {
        long end = System.nanoTime() + AT_MOST.toNanos();
        while (!ask(port, "CONNECT " + target + " HTTP/1.1\r\n\r\n").startsWith("HTTP/1.1 200")) {
            if (System.nanoTime() > end) {
                throw new IOException("The proxy did not know the sandboxes within " + AT_MOST);
            }
        }
    }

    private static void expect(String beginning, int port, String request) throws IOException {
        String answer = ask(port, request);
        if (!answer.startsWith(beginning)) {
            throw new IOException("Not " + beginning + " but: " + answer);
        }
    }

    /** The first line of an answer, or a part of it. */
    private static String ask(int port, String request) throws IOException {
        try (Socket socket = new Socket(HERE, port)) {
            socket.setSoTimeout((int) AT_MOST.toMillis());
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readNBytes("HTTP/1.1 200".length()), StandardCharsets.US_ASCII);
        }
    }
}
