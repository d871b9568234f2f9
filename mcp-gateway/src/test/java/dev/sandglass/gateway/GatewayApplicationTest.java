package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.http.UnreadableRequests;
import dev.sandglass.testing.MockApi;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
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
            // A request is measured once its answer has gone, which the client may have read before.
            await().atMost(SOON).untilAsserted(() -> assertThat(
                            get(app, "/actuator/prometheus").body())
                    .contains("sandglass_mcp_requests_seconds_count{status=\"200\"} ", "status=\"401\"")
                    .contains("sandglass_links_kept 0.0")
                    .contains("sandglass_links_open 0.0", "sandglass_network_unenforced_total 0.0"));
            assertThat(get(app, "/actuator/env").statusCode()).isEqualTo(404);
            assertThat(get(app, "/actuator").statusCode()).isEqualTo(404);
            assertThat(get(app, "/mcp").statusCode()).isEqualTo(404);
        }
    }

    @Tag("slow")
    @Test
    void loadBalancersAreAnsweredWithoutAKeyOnThePortOfTheCallers(@TempDir Path folder) throws Exception {
        try (ConfigurableApplicationContext app = start(folder)) {
            for (String path : List.of("/", "/healthz", "/healthz?from=lb", "/?a=[b]")) {
                assertThat(raw(app, "GET " + path + " HTTP/1.1"))
                        .startsWith("HTTP/1.1 200 ")
                        .containsAnyOf("\r\n\r\nok\n", "\r\n\r\nSandglass: the MCP endpoint is at /mcp.\n");
                assertThat(raw(app, "HEAD " + path + " HTTP/1.1"))
                        .startsWith("HTTP/1.1 200 ")
                        .endsWith("\r\n\r\n");
                assertThat(raw(app, "GET " + path + " HTTP/1.0"))
                        .matches("(?s)HTTP/1.[01] 200 .*")
                        .doesNotContainIgnoringCase("transfer-encoding");
            }
            for (String elsewhere : List.of("POST / HTTP/1.1\r\nContent-Length: 0", "GET /healthz/ HTTP/1.1")) {
                assertThat(raw(app, elsewhere)).startsWith("HTTP/1.1 404 ").endsWith("POST MCP's messages to /mcp\"}}");
            }
            assertThat(raw(app, "GET /mcp HTTP/1.1")).startsWith("HTTP/1.1 401 ");
            assertThat(raw(app, "GET /other HTTP/1.0"))
                    .matches("(?s)HTTP/1.[01] 404 .*")
                    .doesNotContainIgnoringCase("transfer-encoding");
            assertThat(raw("local.management.port", app, "GET /actuator/health/liveness HTTP/1.0"))
                    .matches("(?s)HTTP/1.[01] 200 .*")
                    .doesNotContainIgnoringCase("transfer-encoding");
        }
    }

    /** The bounds that the words name are those that are set. */
    @Tag("slow")
    @Test
    void requestsThatAreTooLongAreRefusedInWords(@TempDir Path folder) throws Exception {
        String line = "GET / HTTP/1.1";
        String headers = "Host: aConnection: closeA: ";
        try (ConfigurableApplicationContext app = start(folder)) {
            String longest = "GET /" + "a".repeat(UnreadableRequests.MAX_LINE_BYTES - line.length()) + " HTTP/1.1";
            assertThat(raw(app, longest)).startsWith("HTTP/1.1 404 ");
            assertThat(raw(app, longest.replace("GET", "HEAD")))
                    .startsWith("HTTP/1.1 414 ")
                    .endsWith("the request line has more than 8192 bytes; shorten the URL's query\"}}");

            String most = line + "\r\nA: " + "a".repeat(UnreadableRequests.MAX_HEADERS_BYTES - headers.length());
            assertThat(raw(app, most)).startsWith("HTTP/1.1 200 ");
            assertThat(raw(app, most + "a"))
                    .startsWith("HTTP/1.1 431 ")
                    .endsWith("the headers have more than 8192 bytes together; send fewer or shorter ones\"}}");
        }
    }

    /** Brackets, bare percent signs and the like are no URI to Java, and a path like any other to browsers and servers. */
    @Tag("slow")
    @Test
    void pathsThatAreNoUriAreNoFaultOfTheGateway(@TempDir Path folder, CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext app = start(folder)) {
            for (String rest : List.of("/[slug]", "/{id}", "/a|b", "/a^b", "/100%", "/caf\u00e9", "/a\\b", "/\"q\"")) {
                String port = "GET /sandboxes/default/box/ports/3000" + rest + " HTTP/1.1";
                assertThat(raw(app, port)).startsWith("HTTP/1.1 401 ");
                assertThat(raw(app, port + "\r\nAuthorization: Bearer hello")).startsWith("HTTP/1.1 503 ");
                assertThat(raw(app, "GET " + rest + " HTTP/1.1")).matches("(?s)HTTP/1.1 (400|404) .*");
            }
            assertThat(raw(app, "POST /mcp?wait=|4 HTTP/1.1\r\nContent-Length: 0"))
                    .startsWith("HTTP/1.1 400 ")
                    .endsWith("the URL is none: write characters such as | and ^ as %7C and %5E\"}}");
            assertThat(output.getAll()).doesNotContain("stack_trace", "URISyntax", "IllegalArgument");
        }
    }

    private static String raw(ConfigurableApplicationContext app, String head) throws IOException {
        return raw("local.server.port", app, head);
    }

    private static String raw(String port, ConfigurableApplicationContext app, String head) throws IOException {
        int number = app.getEnvironment().getRequiredProperty(port, Integer.class);
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), number)) {
            socket.setSoTimeout(Math.toIntExact(SOON.toMillis()));
            socket.getOutputStream()
                    .write((head + "\r\nHost: a\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.UTF_8));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Tag("slow")
    @Test
    void whatAnybodySaysOfTheWayBeforeUsIsNotObeyed(@TempDir Path folder) throws Exception {
        try (ConfigurableApplicationContext app = start(folder, "--spring.main.cloud-platform=kubernetes")) {
            assertThat(list(app, "hello", "X-Forwarded-Port", "zz").statusCode())
                    .isEqualTo(200);
            assertThat(list(app, "hello", "X-Forwarded-Host", "a:99999").statusCode())
                    .isEqualTo(200);
        }
    }

    @Tag("slow")
    @Test
    void withoutAClusterItIsAliveButNotReadyAndSaysWhy(@TempDir Path folder) throws Exception {
        try (ConfigurableApplicationContext app = start(folder)) {
            assertThat(get(app, "/actuator/health/liveness").statusCode()).isEqualTo(200);
            assertThat(get(app, "/actuator/health/readiness").statusCode()).isEqualTo(503);
            assertThat(list(app, "hello").statusCode()).isEqualTo(200);
        }
    }

    @Tag("slow")
    @Test
    void theUnauthenticatedModeListensToThisMachineAloneAndSaysSo(@TempDir Path folder, CapturedOutput output)
            throws Exception {
        try (ConfigurableApplicationContext app =
                start(folder, "--gateway.unauthenticated=true", "--server.address=0.0.0.0")) {
            assertThat(list(app, "anything").statusCode()).isEqualTo(200);
            assertThat(output.getAll()).contains("UNAUTHENTICATED development mode");
            assertThat(reachable(InetAddress.ofLiteral("127.0.0.1"), port(app))).isTrue();
            // All of 127/8 is this machine's, and only what listens on every address listens there too.
            assertThat(reachable(InetAddress.ofLiteral("127.0.0.2"), port(app))).isFalse();
        }
    }

    @Tag("slow")
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
}
