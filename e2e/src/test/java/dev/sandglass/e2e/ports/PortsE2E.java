package dev.sandglass.e2e.ports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxPort;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.Installation;
import dev.sandglass.e2e.support.Tenant;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Declared ports of a sandbox: reached through the gateway with a key or a link, and by nobody else. */
class PortsE2E {

    private static final int WEB = 8000;
    private static final int SOCKET = 8001;
    private static final int UNDECLARED = 8002;
    private static final int LEFT = 8003;

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    private static final Installation INSTALLATION = Installation.current();
    private static final Tenant TENANT = Tenant.of(INSTALLATION);
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static String sandbox = "";

    @BeforeAll
    static void serve() {
        sandbox = SANDBOXES.start(Map.of("ports", List.of(WEB, "80:" + SOCKET, LEFT)));
        background(PortServers.WEB, WEB);
        background(PortServers.SOCKET, SOCKET);
        background(PortServers.WEB, UNDECLARED);
        await("the servers to listen")
                .atMost(Duration.ofSeconds(60))
                .until(() -> List.of(WEB, SOCKET, UNDECLARED).stream().allMatch(PortsE2E::listens));
    }

    @AfterAll
    static void close() {
        TENANT.close();
    }

    private static void background(String program, int port) {
        Answer started = SANDBOXES
                .agent()
                .call(
                        "sandbox_run_command",
                        Map.of(
                                "sandbox",
                                sandbox,
                                "command",
                                "python3",
                                "args",
                                List.of("-c", program, "" + port, "e2e"),
                                "background",
                                true,
                                "timeout",
                                600));
        assertThat(started.failed()).as(started.text()).isFalse();
    }

    /** Seen from inside, where every port that somebody listens on is reached. */
    private static boolean listens(int port) {
        return "True"
                .equals(SANDBOXES
                        .agent()
                        .python(
                                sandbox,
                                "import socket; socket.socket().connect_ex(('127.0.0.1', %d)) == 0".formatted(port))
                        .result());
    }

    /** The address of a port as a start tells it: {@code url} or {@code link}. */
    private static URI told(int port, String kind) {
        return SANDBOXES.agent().start(sandbox).list("ports").stream()
                .map(entry -> (Map<?, ?>) entry)
                .filter(entry -> entry.get("port") instanceof Number number && number.intValue() == port)
                .map(entry -> INSTALLATION.endpoint().resolve(String.valueOf(entry.get(kind))))
                .findFirst()
                .orElseThrow();
    }

    private static HttpRequest.Builder withKey(URI address) {
        return HttpRequest.newBuilder(address).header("Authorization", "Bearer " + INSTALLATION.token());
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return HTTP.send(request.timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void aDeclaredPortIsReachedWithTheKeyWhichStaysOutside() throws Exception {
        HttpResponse<String> answer = send(withKey(told(WEB, "url").resolve("page?a=b")));

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("web of e2e /page?a=b None");
        assertThat(answer.headers().firstValue("Content-Security-Policy").orElseThrow())
                .startsWith("sandbox ");
        assertThat(answer.headers().firstValue("Set-Cookie").orElseThrow())
                .endsWith("Path=" + told(WEB, "url").getPath());
    }

    /** A path need not be a URI: browsers and frameworks send such ones. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/[slug]/{id}",
                "/a|b^c",
                "/100%",
                "/caf\u00c3\u00a9?q=\u00c3\u00bc",
                "/a\\b",
                "/\"q\"",
                "/%5B%2f"
            })
    void aPathReachesTheServerByteForByte(String path) throws Exception {
        URI port = told(WEB, "url");
        try (var socket = new Socket(port.getHost(), port.getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write("GET %s HTTP/1.0\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n"
                            .formatted(port.getPath() + path.substring(1), INSTALLATION.token())
                            .getBytes(StandardCharsets.ISO_8859_1));
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .contains(" 200 ")
                    .endsWith("\r\n\r\nweb of e2e " + path + " None");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/healthz", "/"})
    void loadBalancersAreAnsweredWithoutAKey(String path) throws Exception {
        URI address = INSTALLATION.endpoint().resolve(path);
        assertThat(send(HttpRequest.newBuilder(address)).statusCode()).isEqualTo(200);
        assertThat(send(HttpRequest.newBuilder(address).method("HEAD", HttpRequest.BodyPublishers.noBody()))
                        .statusCode())
                .isEqualTo(200);
    }

    /** The way that sandbox_run_command's description shows. */
    @Test
    void aServerInTheBackgroundOfAShellOutlivesItsCommandAndItsTimeout() throws Exception {
        Map<String, Object> served = Map.of(
                "sandbox",
                sandbox,
                "command",
                "python3 -m http.server %d --bind 0.0.0.0 >server.log 2>&1 &".formatted(LEFT),
                "timeout",
                3);
        Answer left = SANDBOXES.agent().call("sandbox_run_command", served);
        assertThat(left.status()).as(left.text()).isEqualTo("ok");
        await("the server to listen").atMost(Duration.ofSeconds(60)).until(() -> listens(LEFT));
        SANDBOXES.agent().command(sandbox, "sleep", "4");

        assertThat(send(withKey(told(LEFT, "url").resolve("server.log"))).statusCode())
                .isEqualTo(200);
    }

    /** What an identity proxy before the gateway adds stays outside; what is the application's own goes through. */
    @Test
    void headersGoInAndComeOutByAList() throws Exception {
        HttpResponse<String> tokens = send(withKey(told(WEB, "url"))
                .header("Cf-Access-Jwt-Assertion", "secret")
                .header("X-Api-Key", "secret"));
        HttpResponse<String> own = send(withKey(told(WEB, "url")).header("X-Sandbox-Own", "mine"));

        assertThat(tokens.body()).isEqualTo("web of e2e / None");
        assertThat(own.body()).isEqualTo("web of e2e / mine");
        assertThat(own.headers().firstValue("X-Sandbox-Own")).contains("back");
        assertThat(own.headers().firstValue("Set-Login")).isEmpty();
    }

    @Test
    void withoutKeyOnlyTheLinkLeadsThere() throws Exception {
        assertThat(send(HttpRequest.newBuilder(told(WEB, "url"))).statusCode()).isEqualTo(401);
        assertThat(send(HttpRequest.newBuilder(told(WEB, "link"))).body()).startsWith("web of e2e / ");
        String otherPort = told(WEB, "link").toString().replace("/links/" + WEB, "/links/" + SOCKET);
        assertThat(send(HttpRequest.newBuilder(URI.create(otherPort))).statusCode())
                .isEqualTo(403);
    }

    @Test
    void aWebSocketGoesThrough() throws Exception {
        var heard = new CompletableFuture<String>();
        URI address = URI.create(told(SOCKET, "url").toString().replaceFirst("^http", "ws"));

        WebSocket socket = HTTP.newWebSocketBuilder()
                .header("Authorization", "Bearer " + INSTALLATION.token())
                .buildAsync(address, new WebSocket.Listener() {
                    @Override
                    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence text, boolean last) {
                        heard.complete(text.toString());
                        return null;
                    }
                })
                .get(20, TimeUnit.SECONDS);
        socket.sendText("hello", true).get(10, TimeUnit.SECONDS);

        assertThat(heard.get(10, TimeUnit.SECONDS)).isEqualTo("echo hello");
        socket.abort();
    }

    @Test
    void anUndeclaredPortIsNotReachedNotEvenFromTheGatewaysPods() throws Exception {
        String plain = told(WEB, "url").toString().replace("/ports/" + WEB, "/ports/" + UNDECLARED);
        HttpResponse<String> refused = send(withKey(URI.create(plain)));
        assertThat(refused.statusCode()).isEqualTo(404);
        assertThat(refused.body()).contains("not declared");

        String address = String.valueOf(TENANT.sandbox(sandbox).observed().address());
        try (GatewayTwin twin = GatewayTwin.start(TENANT.kubernetes(), TENANT.imageOf(sandbox))) {
            await("control: the twin counts as the gateway")
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> twin.reaches(address, WEB));
            assertThat(twin.reaches(address, UNDECLARED)).isFalse();
        }
    }

    @Test
    void aNeighbourReachesNoPort() {
        String neighbour = SANDBOXES.start();
        String address = String.valueOf(TENANT.sandbox(sandbox).observed().address());

        for (int port : new int[] {WEB, SOCKET, UNDECLARED}) {
            Answer answer = SANDBOXES
                    .agent()
                    .python(
                            neighbour,
                            "import socket; socket.create_connection(('%s', %d), 3)".formatted(address, port));
            assertThat(answer.status()).as("port %d", port).isEqualTo("error");
        }
    }

    @Test
    void whatIsDeclaredLaterIsReachedAtOnceAndWhatIsTakenBackIsNot() {
        String other = SANDBOXES.start();
        String pod = String.valueOf(TENANT.sandbox(other).observed().podName());
        var served = SANDBOXES
                .agent()
                .call(
                        "sandbox_run_command",
                        Map.of(
                                "sandbox",
                                other,
                                "command",
                                "python3",
                                "args",
                                List.of("-c", PortServers.WEB, "9000", "late"),
                                "background",
                                true,
                                "timeout",
                                600));
        assertThat(served.failed()).as(served.text()).isFalse();
        URI late = INSTALLATION.endpoint().resolve("/sandboxes/default/%s/ports/9000/".formatted(other));

        declare(other, List.of(new SandboxPort("late", 9000)));
        await("the port to open")
                .atMost(Duration.ofSeconds(60))
                .until(() -> send(withKey(late)).body().startsWith("web of late"));
        declare(other, List.of());
        await("the port to close")
                .atMost(Duration.ofSeconds(60))
                .until(() -> send(withKey(late)).statusCode() == 404);

        assertThat(TENANT.sandbox(other).observed().podName()).isEqualTo(pod);
    }

    private static void declare(String name, List<SandboxPort> ports) {
        TENANT.change(name, present -> {
            present.setSpec(present.wanted().withPorts(ports));
            return present;
        });
    }
}
