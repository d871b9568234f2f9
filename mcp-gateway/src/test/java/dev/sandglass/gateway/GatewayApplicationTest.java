package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.testing.MockApi;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** The whole application as it is started in a cluster, before a mock of the API server. */
@ExtendWith(OutputCaptureExtension.class)
class GatewayApplicationTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String KEY_FILE = "{\"sha256\":\"%s\",\"tenants\":[\"default\"]}";
    private static final String SHA256_OF_HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

    @RegisterExtension
    final MockApi server = new MockApi();

    private final HttpClient http = HttpClient.newHttpClient();

    private static ConfigurableApplicationContext start(Path folder, String... more) throws IOException {
        return startBefore(WholeGateway.NO_CLUSTER, folder, more);
    }

    private static ConfigurableApplicationContext startBefore(String apiServer, Path folder, String... more)
            throws IOException {
        Path keys = Files.createDirectories(folder.resolve("keys"));
        Files.writeString(keys.resolve("alice"), KEY_FILE.formatted(SHA256_OF_HELLO));
        Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef0123456789abcdef\n");
        var arguments = new ArrayList<>(List.of(
                "--server.port=0",
                "--management.server.port=0",
                "--gateway.api-keys-dir=" + keys,
                "--gateway.link.secret-file=" + secret));
        arguments.addAll(List.of(more));
        return WholeGateway.start(apiServer, arguments.toArray(String[]::new));
    }

    private HttpResponse<String> get(ConfigurableApplicationContext app, String path) throws Exception {
        String port = app.getEnvironment().getRequiredProperty("local.management.port");
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .timeout(SOON)
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> list(ConfigurableApplicationContext app, String key, String... headers)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port(app) + "/mcp"))
                .header("Authorization", "Bearer " + key)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"));
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static int port(ConfigurableApplicationContext app) {
        return app.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    @Test
    void itIsReadyOnceTheSandboxesAreKnown(@TempDir Path folder) throws Exception {
        try (ConfigurableApplicationContext app = startBefore(server.url(), folder)) {
            await().atMost(SOON)
                    .until(() -> get(app, "/actuator/health/readiness").statusCode() == 200);
            assertThat(list(app, "hello").statusCode()).isEqualTo(200);
            assertThat(list(app, "wrong").statusCode()).isEqualTo(401);
            assertThat(get(app, "/actuator/prometheus").body())
                    .contains("sandglass_mcp_requests_seconds_count{status=\"200\"} ", "status=\"401\"")
                    .contains("sandglass_links_open 0.0");
            assertThat(get(app, "/actuator/env").statusCode()).isEqualTo(404);
            assertThat(get(app, "/actuator").statusCode()).isEqualTo(404);
            assertThat(get(app, "/mcp").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void whatAnybodySaysOfTheWayBeforeUsIsNotObeyed(@TempDir Path folder) throws Exception {
        try (ConfigurableApplicationContext app = start(folder, "--spring.main.cloud-platform=kubernetes")) {
            assertThat(list(app, "hello", "X-Forwarded-Port", "zz").statusCode())
                    .isEqualTo(200);
            assertThat(list(app, "hello", "X-Forwarded-Host", "a:99999").statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void withoutAClusterItIsAliveButNotReadyAndSaysWhy(@TempDir Path folder) throws Exception {
        try (ConfigurableApplicationContext app = start(folder)) {
            assertThat(get(app, "/actuator/health/liveness").statusCode()).isEqualTo(200);
            assertThat(get(app, "/actuator/health/readiness").statusCode()).isEqualTo(503);
            assertThat(list(app, "hello").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void theUnauthenticatedModeListensToThisMachineAloneAndSaysSo(@TempDir Path folder, CapturedOutput output)
            throws Exception {
        try (ConfigurableApplicationContext app =
                start(folder, "--gateway.unauthenticated=true", "--server.address=0.0.0.0")) {
            assertThat(list(app, "anything").statusCode()).isEqualTo(200);
            assertThat(output.getAll()).contains("UNAUTHENTICATED development mode");
            Optional<InetAddress> outside = outsideAddress();
            if (outside.isPresent()) {
                assertThat(reachable(outside.get(), port(app))).isFalse();
            }
        }
    }

    @Test
    void connectionsThatSayNothingAreEndedSoon(@TempDir Path folder) throws Exception {
        try (ConfigurableApplicationContext app = start(folder, "--gateway.connections.head-timeout=1s");
                var socket = new Socket(InetAddress.getLoopbackAddress(), port(app))) {
            socket.setSoTimeout(Math.toIntExact(SOON.toMillis()));
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    private static boolean reachable(InetAddress address, int port) throws IOException {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), 1000);
            return true;
        } catch (ConnectException refused) {
            return false;
        }
    }

    private static Optional<InetAddress> outsideAddress() throws IOException {
        return NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                .findFirst();
    }
}
