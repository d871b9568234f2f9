package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.egress.IpRange;
import dev.sandglass.egress.proxy.EgressProxy;
import dev.sandglass.egress.testing.LoopbackResolver;
import dev.sandglass.egress.testing.TenantObjects;
import dev.sandglass.egress.tunnel.Limits;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The process as a whole: from a resource in the API server to a byte that goes through, and back to none. */
class RunningProxyTest {

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    static final String NAMESPACE = "tenant";

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    static EgressSettings settings() {
        return new EgressSettings(
                Set.of(NAMESPACE),
                false,
                Path.of("unused"),
                false,
                new EgressSettings.Rules(
                        false,
                        new DeniedRanges(List.of(), List.of(IpRange.parse("127.0.0.1"))),
                        DefaultDomains.NONE,
                        EgressProxy.Guard.TLS_PORTS),
                Limits.DEFAULT,
                new EgressSettings.Ports(0, 0, 0),
                Optional.empty());
    }

    private static Socket ask(int port, String target) throws IOException {
        Socket socket = new Socket(LOOPBACK, port);
        socket.setSoTimeout(10_000);
        String request = "CONNECT " + target + " HTTP/1.1\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String status(Socket socket) throws IOException {
        return new String(socket.getInputStream().readNBytes("HTTP/1.1 200".length()), StandardCharsets.US_ASCII);
    }

    @Test
    void fromTheResourceToTheTunnelAndBack() throws Exception {
        TenantObjects.define(client);
        TenantObjects tenant = new TenantObjects(client, NAMESPACE);
        try (ServerSocket server = new ServerSocket(0, 10, LOOPBACK);
                LoopbackResolver resolver = new LoopbackResolver(LoopbackResolver.SILENT);
                EgressMain.RunningProxy running = new EgressMain.RunningProxy(
                        settings(),
                        client,
                        new EgressSecret(new byte[32]),
                        new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
                        resolver.asServers())) {
            String target = "127.0.0.1:" + server.getLocalPort();
            await().untilAsserted(() -> assertThat(answer(running, target)).isEqualTo("HTTP/1.1 407"));
            String uid = tenant.sandbox("box", target);
            tenant.write(tenant.pod("box", uid, 1, LOOPBACK.getHostAddress()).build());
            await().untilAsserted(() -> assertThat(answer(running, target)).isEqualTo("HTTP/1.1 200"));
            try (Socket tunnel = ask(running.port(), target)) {
                assertThat(status(tunnel)).isEqualTo("HTTP/1.1 200");
                tenant.sandbox("box", "other.example");
                assertThat(tunnel.getInputStream().readAllBytes())
                        .endsWith("\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            }
            assertThat(answer(running, target)).isEqualTo("HTTP/1.1 403");

            // All of that went by address; a rollout still has to wait for names.
            assertThat(readiness(running)).isEqualTo(503);
            resolver.answer(LoopbackResolver.NO_SUCH_NAME);
            await().atMost(Duration.ofSeconds(30)).until(() -> readiness(running) == 200);
        }
    }

    private static int readiness(EgressMain.RunningProxy running) throws Exception {
        URI place = URI.create("http://127.0.0.1:" + running.probesPort() + "/readyz");
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(HttpRequest.newBuilder(place).build(), HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }

    private static String answer(EgressMain.RunningProxy running, String target) throws IOException {
        try (Socket socket = ask(running.port(), target)) {
            return status(socket);
        }
    }
}
