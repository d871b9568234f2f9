package dev.sandglass.gateway.port;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.port.message.OutwardHeaders;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP through the gateway to a server on a sandbox's port, over real connections. */
class PortProxyTest {

    private static final String OK = "HTTP/1.1 200 OK\r\n";
    private final PortGateway gateway = new PortGateway();

    @AfterEach
    void stop() {
        gateway.close();
    }

    /** A server that answers what it was asked. */
    private static Upstream echo() {
        return new Upstream((connection, head) -> {
            byte[] body = head.getBytes(StandardCharsets.UTF_8);
            connection
                    .getOutputStream()
                    .write((OK + "Content-Length: " + body.length + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
            connection.getOutputStream().write(body);
        });
    }

    private String on(Upstream upstream, String rest) {
        gateway.box("uid-1", upstream.port());
        return PortGateway.path(upstream.port(), rest);
    }

    @Test
    void aRequestReachesTheServerAsItIsButWithoutTheCallersCredentials() throws Exception {
        try (Upstream upstream = echo()) {
            HttpResponse<String> answer = gateway.send(gateway.request(on(upstream, "//a%2Fb/../c?d=%20&e"))
                    .header("X-Sandbox-Mine", "1")
                    .header("Cf-Access-Jwt-Assertion", "secret")
                    .header("X-Api-Key", "secret")
                    .header("Cookie", "sso=secret; sandglass-port.a=b")
                    .header("Referer", gateway.base() + "/sandboxes/secret"));

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body().lines().findFirst()).contains("GET //a%2Fb/../c?d=%20&e HTTP/1.1");
            assertThat(answer.body().lines().map(String::toLowerCase))
                    .contains("x-sandbox-mine: 1", "cookie: a=b", "host: localhost:" + upstream.port())
                    .contains("x-forwarded-for: 127.0.0.1", "x-forwarded-host: 127.0.0.1:" + gateway.port());
            assertThat(answer.body())
                    .doesNotContain("secret")
                    .doesNotContainIgnoringCase("authorization")
                    .doesNotContain(PortGateway.ALICE)
                    .doesNotContainIgnoringCase("reactor");
            assertThat(gateway.sandboxes.busy).contains(Duration.ZERO);
        }
    }

    @ParameterizedTest
    @CsvSource({PortGateway.PROXY + ", 192.0.2.1", "127.0.0.3, 127.0.0.3"})
    void whereARequestComesFromIsBelievedOfTrustedProxiesAlone(String peer, String expected) throws Exception {
        try (Upstream upstream = echo();
                Socket socket =
                        new Socket(InetAddress.getLoopbackAddress(), gateway.port(), InetAddress.ofLiteral(peer), 0)) {
            String head = """
                    GET %s HTTP/1.1\r
                    Host: a\r
                    Authorization: Bearer %s\r
                    Connection: close\r
                    X-Forwarded-For: 203.0.113.9, 192.0.2.1\r
                    Forwarded: for=203.0.113.9\r
                    X-Forwarded-Host: a:99999\r
                    X-Forwarded-Port: zz\r
                    \r
                    """.formatted(on(upstream, "/"), PortGateway.ALICE);
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));

            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                            .toLowerCase(Locale.ROOT)
                            .lines()
                            .filter(line -> line.contains("forwarded")))
                    .containsExactlyInAnyOrder(
                            "x-forwarded-for: " + expected,
                            "x-forwarded-proto: http",
                            "x-forwarded-prefix: " + on(upstream, ""),
                            "x-forwarded-host: a");
        }
    }

    @Test
    void anAnswerIsFenced() throws Exception {
        try (Upstream upstream = Upstream.answering("HTTP/1.1 302 Found\r\nLocation: /x\r\nSet-Cookie: a=b; Path=/\r\n"
                + "X-Accel-Redirect: /internal\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\n\r\nhi")) {
            HttpResponse<String> answer = gateway.send(gateway.request(on(upstream, "/")));

            assertThat(answer.statusCode()).isEqualTo(302);
            assertThat(answer.body()).isEqualTo("hi");
            assertThat(answer.headers().allValues("Content-Security-Policy")).containsExactly(OutwardHeaders.SANDBOXED);
            assertThat(answer.headers().firstValue("Location")).contains(PortGateway.path(upstream.port(), "/x"));
            assertThat(answer.headers().firstValue("Set-Cookie"))
                    .contains("sandglass-port.a=b; Path=" + PortGateway.path(upstream.port(), "/"));
            assertThat(answer.headers().map()).doesNotContainKeys("x-accel-redirect", "access-control-allow-origin");
        }
    }

    @Test
    void whatIsSentIsPassedOnBeforeThereIsMore() throws Exception {
        var seen = new CountDownLatch(1);
        try (Upstream upstream = new Upstream((connection, head) -> {
            connection
                    .getOutputStream()
                    .write((OK + "Transfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n").getBytes(StandardCharsets.UTF_8));
            seen.await();
            connection.getOutputStream().write("4\r\ntwo\n\r\n0\r\n\r\n".getBytes(StandardCharsets.UTF_8));
        })) {
            HttpResponse<InputStream> answer = gateway.http.send(
                    gateway.request(on(upstream, "/")).build(), HttpResponse.BodyHandlers.ofInputStream());

            assertThat(answer.body().readNBytes(4)).isEqualTo("one\n".getBytes(StandardCharsets.UTF_8));
            seen.countDown();
            assertThat(answer.body().readAllBytes()).isEqualTo("two\n".getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void largeBodiesGoThroughBothWays() throws Exception {
        byte[] body = new byte[24 * 1024 * 1024];
        new Random(7).nextBytes(body);
        try (Upstream upstream = new Upstream((connection, head) -> {
            byte[] read = connection.getInputStream().readNBytes(body.length);
            connection
                    .getOutputStream()
                    .write((OK + "Content-Length: " + read.length + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
            connection.getOutputStream().write(read);
        })) {
            HttpResponse<byte[]> answer = gateway.http.send(
                    gateway.request(on(upstream, "/"))
                            .PUT(HttpRequest.BodyPublishers.ofByteArray(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray());

            assertThat(Arrays.equals(answer.body(), body)).isTrue();
        }
    }

    /** What nobody reads must stay where it came from, not in the gateway. */
    @Tag("slow")
    @Test
    void aSlowReaderHoldsTheServerBack() throws Exception {
        var produced = new AtomicLong();
        byte[] piece = new byte[64 * 1024];
        try (Upstream upstream = new Upstream((connection, head) -> {
                    connection
                            .getOutputStream()
                            .write((OK + "Connection: close\r\n\r\n").getBytes(StandardCharsets.UTF_8));
                    for (int i = 0; i < 16 * 1024; i++) {
                        connection.getOutputStream().write(piece);
                        produced.addAndGet(piece.length);
                    }
                });
                Socket reader = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
            reader.getOutputStream()
                    .write(("GET " + on(upstream, "/") + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                                    + PortGateway.ALICE + "\r\n\r\n")
                            .getBytes(StandardCharsets.UTF_8));
            reader.getInputStream().read();

            var before = new AtomicLong(-1);
            await().pollInterval(Duration.ofMillis(300))
                    .atMost(Duration.ofSeconds(15))
                    .until(() -> before.getAndSet(produced.get()) == produced.get());
            assertThat(produced.get()).isLessThan(48L * 1024 * 1024);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"Content-Length: 100\r\n\r\nonly so much", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"})
    void anAnswerThatBreaksOffIsNotTakenForAWholeOne(String answer) throws Exception {
        try (Upstream upstream = Upstream.answering(OK + answer)) {
            HttpRequest request = gateway.request(on(upstream, "/")).build();

            assertThatThrownBy(() -> gateway.http.send(request, HttpResponse.BodyHandlers.ofString()))
                    .isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "SSH-2.0-OpenSSH_9.9\r\n\r\n", "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 2x0 OK\r\n\r\n"})
    void aServerThatSpeaksNoHttpIsABadGateway(String answer) throws Exception {
        try (Upstream upstream = Upstream.answering(answer)) {
            HttpResponse<String> response = gateway.send(gateway.request(on(upstream, "/")));

            assertThat(response.statusCode()).isEqualTo(502);
            assertThat(PortGateway.error(response)).contains("port " + upstream.port());
        }
    }

    @Test
    void headersAreBounded() throws Exception {
        try (Upstream upstream =
                Upstream.answering(OK + "X: " + "x".repeat(33 * 1024) + "\r\nContent-Length: 0\r\n\r\n")) {
            HttpResponse<String> response = gateway.send(gateway.request(on(upstream, "/")));

            assertThat(response.statusCode()).isEqualTo(502);
            assertThat(PortGateway.error(response))
                    .contains("port " + upstream.port(), "headers of more than 32768 bytes");
        }
    }

    @Test
    void aPortOnWhichNothingListensSaysWhatToDo() throws Exception {
        // Bound and not listening: nothing else gets the port meanwhile, and connections to it are refused.
        try (SocketChannel taken =
                SocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            int free = ((InetSocketAddress) taken.getLocalAddress()).getPort();
            gateway.box("uid-1", free);

            HttpResponse<String> response = gateway.send(gateway.request(PortGateway.path(free, "/")));

            assertThat(response.statusCode()).isEqualTo(502);
            assertThat(PortGateway.error(response))
                    .contains("Nothing listens on port " + free)
                    .contains("0.0.0.0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"204 No Content", "304 Not Modified"})
    void answersWithoutBodyHaveNone(String status) throws Exception {
        try (Upstream upstream = Upstream.answering("HTTP/1.1 " + status + "\r\nETag: \"1\"\r\n\r\n")) {
            HttpResponse<String> response = gateway.send(gateway.request(on(upstream, "/")));

            assertThat(response.statusCode()).isEqualTo(Integer.parseInt(status.substring(0, 3)));
            assertThat(response.headers().firstValue("ETag")).contains("\"1\"");
            assertThat(response.body()).isEmpty();
        }
    }

    @Test
    void headTellsTheLengthAndNoBody() throws Exception {
        try (Upstream upstream = Upstream.answering(OK + "Content-Length: 12345\r\n\r\n")) {
            HttpResponse<String> response = gateway.send(
                    gateway.request(on(upstream, "/")).method("HEAD", HttpRequest.BodyPublishers.noBody()));

            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Length")).contains("12345");
        }
    }

    /** A server that says nothing, and what it reads in the end. */
    private static Upstream silent(AtomicInteger ended) {
        return new Upstream((connection, head) -> {
            ended.set(connection.getInputStream().read());
        });
    }

    @Tag("slow")
    @Test
    void aConnectionOnWhichNothingMovesIsEnded() throws Exception {
        var ended = new AtomicInteger();
        try (var impatient = new PortGateway(Duration.ofSeconds(2));
                Upstream upstream = silent(ended)) {
            impatient.box("uid-1", upstream.port());
            String path = PortGateway.path(upstream.port(), "/");
            HttpResponse<String> response = impatient.send(impatient.request(path));

            assertThat(response.statusCode()).isEqualTo(504);
            await().until(() -> ended.get() == -1);
        }
    }

    @Test
    void aClientThatGoesTakesItsConnectionToTheSandboxAlong() throws Exception {
        var ended = new AtomicInteger();
        try (Upstream upstream = silent(ended)) {
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
                client.getOutputStream()
                        .write(("GET " + on(upstream, "/") + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                                        + PortGateway.ALICE + "\r\n\r\n")
                                .getBytes(StandardCharsets.UTF_8));
                await().until(() -> upstream.connections.get() == 1);
            }
            await().atMost(PortGateway.IDLE.minusSeconds(2)).until(() -> ended.get() == -1);
        }
    }
}
