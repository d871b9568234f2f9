package dev.sandglass.egress;

import dev.sandglass.api.egress.EgressSecret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * One tunnel and one refusal against a stand-in for the API server, so that the virtual machine sees the code that a start
 * needs and can store it in the image's AOT cache. It ends by itself, and fails if the proxy does not answer as it should.
 */
final class Training {

    private static final Duration AT_MOST = Duration.ofSeconds(30);
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final int ROUNDS = 20;

    private Training() {}

    static void run() throws IOException, InterruptedException {
        try (ServerSocket origin = new ServerSocket(0, 10, HERE)) {
            String target = HERE.getHostAddress() + ":" + origin.getLocalPort();
            Thread.startVirtualThread(() -> greet(origin));
            EgressSettings settings = settings();
            try (DatagramSocket resolver = new DatagramSocket(0, HERE);
                    TrainingServer server = new TrainingServer(target);
                    KubernetesClient client = client(server.url());
                    EgressMain.RunningProxy running = new EgressMain.RunningProxy(
                            settings,
                            client,
                            secret(),
                            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
                            // It never answers: nothing outside is asked while the image is built.
                            new SingletonDnsServerAddressStreamProvider(
                                    (InetSocketAddress) resolver.getLocalSocketAddress()))) {
                expect("HTTP/1.1 503", running.probesPort(), "GET /readyz HTTP/1.0\r\n\r\n");
                awaitOpen(running.port(), target);
                for (int round = 0; round < ROUNDS; round++) {
                    expect("HTTP/1.1 200", running.port(), "CONNECT " + target + " HTTP/1.1\r\n\r\n");
                    expect("HTTP/1.1 403", running.port(), "CONNECT example.com:443 HTTP/1.1\r\n\r\n");
                    expect(
                            "HTTP/1.1 200",
                            running.port(),
                            "GET http://" + target + "/ HTTP/1.1\r\nHost: " + target + "\r\n\r\n");
                }
                expect("HTTP/1.1 200", running.probesPort(), "GET /metrics HTTP/1.0\r\n\r\n");
            }
        }
    }

    private static EgressSettings settings() throws IOException {
        Map<String, String> environment = new HashMap<>(Map.of(
                "EGRESS_NAMESPACES",
                TrainingServer.NAMESPACE,
                "EGRESS_SECRET_FILE",
                "unused",
                "EGRESS_MAX_NEW_TUNNELS",
                "10000",
                "EGRESS_ALLOWED_RANGES",
                HERE.getHostAddress()));
        // The builder may share the network of a machine on which a proxy runs.
        for (String port : new String[] {"EGRESS_PORT", "EGRESS_HTTP_PORT", "EGRESS_DENIALS_PORT"}) {
            try (ServerSocket free = new ServerSocket(0)) {
                environment.put(port, Integer.toString(free.getLocalPort()));
            }
        }
        return EgressSettings.of(environment);
    }

    private static KubernetesClient client(String url) {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty())
                        .withMasterUrl(url)
                        .withOnlyHttpWatches(true)
                        .build())
                .build();
    }

    private static EgressSecret secret() {
        return new EgressSecret("nothing but training is done with this".getBytes(StandardCharsets.US_ASCII));
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
