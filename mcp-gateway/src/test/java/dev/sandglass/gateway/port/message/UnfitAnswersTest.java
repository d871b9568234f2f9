package dev.sandglass.gateway.port.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.port.PortGateway;
import dev.sandglass.gateway.port.Upstream;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers of a sandbox's server that are none, over real connections: what the client gets is seen byte by byte. */
class UnfitAnswersTest {

    private static final String WHOLE = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    private static final String HINTS = "HTTP/1.1 103 Early Hints\r\nSet-Cookie: a=b; Path=/\r\n\r\n";
    private final PortGateway gateway = new PortGateway();

    @AfterEach
    void stop() {
        gateway.close();
    }

    private String on(Upstream upstream) {
        gateway.box("uid-1", upstream.port());
        return PortGateway.path(upstream.port(), "/");
    }

    /** All that the gateway writes, until it closes the connection. */
    private String written(String method, Upstream upstream) throws IOException {
        String path = on(upstream);
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
            client.setSoTimeout(20_000);
            client.getOutputStream()
                    .write("%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n"
                            .formatted(method, path, PortGateway.ALICE)
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"100 Continue", "102 Processing", "103 Early Hints", "104 Upload Resumption", "199 x"})
    void whatComesBeforeTheAnswerReachesNobody(String interim) throws Exception {
        String before = "HTTP/1.1 " + interim + "\r\nSet-Cookie: a=b; Path=/\r\nLink: </x>; rel=preload\r\n\r\n";
        try (Upstream upstream = Upstream.answering(before + before + WHOLE)) {
            String answer = written("GET", upstream);

            assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n").endsWith("\r\n\r\nhello");
            assertThat(answer).doesNotContain("preload").doesNotContain("HTTP/1.1 1");
            assertThat(answer).doesNotContainIgnoringCase("set-cookie");
        }
    }

    @Test
    void itMayComeByteByByteAndBeforeAnAnswerToHead() throws Exception {
        try (Upstream upstream = new Upstream((connection, head) -> {
            connection.setTcpNoDelay(true);
            OutputStream out = connection.getOutputStream();
            for (byte each : (HINTS + WHOLE.replace("hello", "")).getBytes(StandardCharsets.US_ASCII)) {
                out.write(each);
                out.flush();
            }
        })) {
            assertThat(written("HEAD", upstream))
                    .startsWith("HTTP/1.1 200 OK\r\n")
                    .containsIgnoringCase("content-length: 5\r\n");
        }
    }

    @Test
    void aBodyThatIsSentGetsItsAnswerToo() throws Exception {
        try (Upstream upstream = Upstream.answering("HTTP/1.1 100 Continue\r\n\r\n" + HINTS + WHOLE)) {
            HttpResponse<String> answer =
                    gateway.send(gateway.request(on(upstream)).POST(HttpRequest.BodyPublishers.ofString("body")));

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).isEqualTo("hello");
        }
    }

    @Test
    void itMayNotComeForEver() throws Exception {
        try (Upstream most = Upstream.answering(HINTS.repeat(InterimAnswers.MOST) + WHOLE);
                Upstream more = Upstream.answering(HINTS.repeat(InterimAnswers.MOST + 1) + WHOLE)) {
            assertThat(gateway.send(gateway.request(on(most))).body()).isEqualTo("hello");

            HttpResponse<String> refused = gateway.send(gateway.request(on(more)));
            assertThat(refused.statusCode()).isEqualTo(502);
            assertThat(PortGateway.error(refused))
                    .contains("port " + more.port())
                    .contains("more than 16 times");
        }
    }

    @Test
    void aHeadMayHaveSoManyLines() throws Exception {
        String head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n";
        String most = "a:b\r\n".repeat(UnfitAnswers.MOST_HEADERS - 1);
        try (Upstream allowed = Upstream.answering(head + most + "\r\nhello");
                Upstream more = Upstream.answering(head + most + "a:b\r\n\r\nhello")) {
            assertThat(gateway.send(gateway.request(on(allowed))).body()).isEqualTo("hello");

            HttpResponse<String> refused = gateway.send(gateway.request(on(more)));
            assertThat(refused.statusCode()).isEqualTo(502);
            assertThat(PortGateway.error(refused)).contains("257 header lines; 256 are passed on");
        }
    }

    /** Reactor Netty reads on demand: who takes a message away has to ask for the next one. */
    @Test
    void whatIsTakenOutIsFollowedByTheNext() {
        var asked = new AtomicInteger();
        var channel = new EmbeddedChannel(
                new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void read(ChannelHandlerContext context) {
                        asked.incrementAndGet();
                    }
                },
                new InterimAnswers(8000));
        channel.config().setAutoRead(false);
        int before = asked.get();

        channel.writeInbound(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.EARLY_HINTS));
        assertThat(asked.get()).isGreaterThan(before);
        int between = asked.get();
        channel.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        assertThat(asked.get()).isGreaterThan(between);
        assertThat(channel.inboundMessages()).isEmpty();
    }

    @Test
    void noneCountsForTheNextRequest() throws Exception {
        try (Upstream upstream = Upstream.answering(HINTS.repeat(InterimAnswers.MOST) + WHOLE)) {
            assertThat(gateway.send(gateway.request(on(upstream))).statusCode()).isEqualTo(200);
            assertThat(gateway.send(gateway.request(on(upstream))).statusCode()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket",
                "101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c",
                "101 Switching Protocols",
                "600 Beyond",
                "999 Beyond"
            })
    void aStatusThatIsNoAnswerIsABadGateway(String status) throws Exception {
        try (Upstream upstream = Upstream.answering("HTTP/1.1 " + status + "\r\n\r\n" + WHOLE)) {
            String answer = written("GET", upstream);

            assertThat(answer).startsWith("HTTP/1.1 502 ").contains("port " + upstream.port());
            assertThat(answer).contains("status " + status.substring(0, 3)).doesNotContain("hello");
            assertThat(answer).doesNotContainIgnoringCase("upgrade:");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"200 OK", "599 Odd"})
    void othersAreAnswers(String status) throws Exception {
        try (Upstream upstream = Upstream.answering(WHOLE.replace("200 OK", status))) {
            assertThat(written("GET", upstream)).startsWith("HTTP/1.1 " + status + "\r\n");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "multipart/x-mixed-replace; boundary=b |",
                "multipart/x-mixed-replace; boundary=b | document",
                "multipart/x-mixed-replace; boundary=b | iframe",
                "multipart/x-mixed-replace; boundary=b | Image",
                "MultiPart/Mixed;boundary=b | document",
                "multipart/byteranges; boundary=b | embed",
                "text/html, multipart/x-mixed-replace; boundary=b | document",
                "text/html\\r\\nContent-Type: multipart/x-mixed-replace; boundary=b | document"
            })
    void partsWithHeadersOfTheirOwnAreNoPage(String type, @Nullable String destination) throws Exception {
        try (Upstream upstream = parts(type)) {
            var request = gateway.request(on(upstream));
            HttpResponse<String> answer =
                    gateway.send(destination == null ? request : request.header("Sec-Fetch-Dest", destination));

            assertThat(answer.statusCode()).isEqualTo(502);
            assertThat(PortGateway.error(answer)).contains("multipart").contains("Sec-Fetch-Dest: image");
            assertThat(answer.headers().allValues("Content-Type")).containsExactly("application/json");
        }
    }

    @ParameterizedTest
    @CsvSource({"multipart/x-mixed-replace, image", "multipart/mixed, empty", "text/html, document"})
    void picturesThatMoveAndScriptsGetThem(String type, String destination) throws Exception {
        try (Upstream upstream = parts(type + ";boundary=b")) {
            HttpResponse<String> answer =
                    gateway.send(gateway.request(on(upstream)).header("Sec-Fetch-Dest", destination));

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body()).contains("a=b");
            assertThat(answer.headers().firstValue("Content-Type")).contains(type + ";boundary=b");
        }
    }

    private static Upstream parts(String type) {
        String body = "--b\r\nSet-Cookie: a=b; Path=/\r\nContent-Type: text/html\r\n\r\nhi\r\n--b--";
        return Upstream.answering("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(type.replace("\\r\\n", "\r\n"), body.length(), body));
    }

    /** Hints come before the switch of a WebSocket as well, and are no refusal of it. */
    @Test
    void aSocketOpensBehindHints() throws Exception {
        try (Upstream upstream = new Upstream((connection, head) -> {
            Matcher key = Pattern.compile("(?i)sec-websocket-key: (\\S+)").matcher(head);
            assertThat(key.find()).isTrue();
            connection
                    .getOutputStream()
                    .write((HINTS + "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                                    + "Sec-WebSocket-Accept: " + accepted(key.group(1)) + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            connection.getInputStream().read();
        })) {
            WebSocket socket = gateway.http
                    .newWebSocketBuilder()
                    .header("Authorization", "Bearer " + PortGateway.ALICE)
                    .buildAsync(
                            URI.create(gateway.base().replace("http:", "ws:") + on(upstream)),
                            new WebSocket.Listener() {})
                    .get(20, TimeUnit.SECONDS);

            assertThat(socket.isOutputClosed()).isFalse();
            socket.abort();
        }
    }

    /** RFC 6455, section 4.2.2. */
    private static String accepted(String key) {
        try {
            byte[] text = (key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII);
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
