package dev.sandglass.gateway.port.message;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sandglass.gateway.port.PortGateway;
import dev.sandglass.gateway.port.RawSocket;
import dev.sandglass.gateway.port.Upstream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.slf4j.LoggerFactory;

/** What is asked of a sandbox's port reaches it byte for byte, whether or not it is a URI. A character is a byte here. */
class RequestTargetTest {

    private static final Logger ROOT = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private static final String EVERY_BYTE = IntStream.rangeClosed(0x21, 0xff)
            .filter(letter -> letter != 0x7f)
            .mapToObj(Character::toString)
            .collect(Collectors.joining());

    static final List<String> TARGETS = List.of(
            "/",
            "/items/[slug]",
            "/items/{id}/x",
            "/a|b",
            "/a^b`c",
            "/100%",
            "/%",
            "/%zz/%4",
            "/%25/%2525/%00",
            "/a%20b%2Fc%c3%a9",
            utf8("/caf\u00e9/\u4e16\u754c/\ud83d\ude00?q=\u00fc"),
            "/\u00ff\u00fe\u0080",
            "/a\\b\\..\\c",
            "/\"quoted\"/<tag>/'x'",
            "//a//b",
            "/../../x/./y",
            "/;a=b;c",
            "/:@!$&'()*+,=~_-.",
            "/?",
            "/??a=[b]&c={d}|^%&e=\"f\\g\"",
            "/?next=http://localhost:3000/[x]",
            "/a#b?c#d",
            "/http://elsewhere/x",
            "/" + EVERY_BYTE,
            "/?" + EVERY_BYTE,
            "/" + "%[\u00e9".repeat(1000));

    static final List<String> NONE = List.of(
            "/a b", "/a\tb", "/a\u0001", "/\u0000", "/a\u007f", "/?q=\u001b[31m", "/a\u000bb", "/a\u000cb", "/?a=b c");

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final PortGateway gateway = new PortGateway();

    @BeforeEach
    void start() {
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        ROOT.addAppender(lines);
    }

    @AfterEach
    void stop() {
        ROOT.detachAppender(lines);
        gateway.close();
        assertThat(lines.list).allMatch(line -> line.getThrowableProxy() == null);
    }

    @ParameterizedTest
    @FieldSource("TARGETS")
    void itIsCarriedByHttp(String target) throws Exception {
        var asked = new CompletableFuture<String>();
        try (Upstream upstream = new Upstream((connection, head) -> {
            asked.complete(head);
            connection.getOutputStream().write(bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"));
        })) {
            gateway.box("uid-1", upstream.port());
            assertThat(answer("POST", PortGateway.path(upstream.port(), target), "Content-Length: 3\r\n", "abc"))
                    .startsWith("HTTP/1.1 200 ")
                    .endsWith("hi");
            assertThat(asked.get(20, TimeUnit.SECONDS)).startsWith("POST " + target + " HTTP/1.1\r\n");
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @FieldSource("TARGETS")
    void itIsCarriedByWebSockets(String target) throws Exception {
        var asked = new CompletableFuture<String>();
        try (Upstream upstream = new Upstream((connection, head) -> {
            connection.getOutputStream().write(RawSocket.accepted(head));
            asked.complete(head);
            connection.getInputStream().read();
        })) {
            gateway.box("uid-1", upstream.port());
            try (RawSocket _ = RawSocket.open(gateway, PortGateway.ALICE, PortGateway.path(upstream.port(), target))) {
                assertThat(asked.get(20, TimeUnit.SECONDS)).startsWith("GET " + target + " HTTP/1.1\r\n");
            }
        }
    }

    @ParameterizedTest
    @FieldSource("NONE")
    void whatCannotStandInARequestIsRefused(String target) throws Exception {
        try (Upstream upstream = Upstream.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")) {
            gateway.box("uid-1", upstream.port());
            assertThat(answer("GET", PortGateway.path(upstream.port(), target), "", ""))
                    .startsWith("HTTP/1.1 400 ")
                    .contains("ontent-");
            assertThat(upstream.connections).hasValue(0);
        }
    }

    @Test
    void aRedirectionToTheSlashKeepsTheQuery() throws Exception {
        gateway.box("uid-1", 3000);
        String query = "?a=[b]|{c}^%" + utf8("\u00e9");
        assertThat(answer("GET", PortGateway.path(3000, query), "", ""))
                .startsWith("HTTP/1.1 308 ")
                .containsIgnoringCase("location: " + PortGateway.path(3000, "/" + query) + "\r\n");
    }

    @Test
    void aRedirectionOfTheServerKeepsItsPlace() throws Exception {
        String place = "/[slug]/{id}?q=a|b^c%" + utf8("\u00e9") + "&r=\\";
        try (Upstream upstream = new Upstream((connection, head) -> connection
                .getOutputStream()
                .write(bytes("HTTP/1.1 302 Found\r\nLocation: " + place + "\r\nContent-Length: 0\r\n\r\n")))) {
            gateway.box("uid-1", upstream.port());
            assertThat(answer("GET", PortGateway.path(upstream.port(), "/"), "", ""))
                    .startsWith("HTTP/1.1 302 ")
                    .containsIgnoringCase("location: "
                            + PortGateway.path(upstream.port(), "/%5Bslug%5D/%7Bid%7D?q=a%7Cb%5Ec%25%C3%A9&r=\\")
                            + "\r\n");
        }
    }

    private String answer(String method, String target, String headers, String body) throws IOException {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write(bytes(
                            "%s %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nConnection: close\r\n%s\r\n%s"
                                    .formatted(method, target, PortGateway.ALICE, headers, body)));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String utf8(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }
}
