package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.egress.tls.Hellos;
import dev.sandglass.egress.tunnel.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tunnels on a port of TLS: the client must ask for the name that the tunnel was given for. */
class ServerNameTest {

    private static final String ACCESS_DENIED = "\u0015\u0003\u0003\0\u0002\u00021";

    private Origin origin;
    private Stage stage;
    private String target;

    @BeforeEach
    void open() throws InterruptedException, IOException {
        origin = new Origin("127.0.0.1", Origin.ECHO);
        open(Limits.DEFAULT);
    }

    private void open(Limits limits) throws InterruptedException {
        stage = new Stage(limits, false, Set.of(origin.port()));
        stage.names.put("example.com", "127.0.0.1");
        target = "example.com:" + origin.port();
        stage.clients.put(SANDBOX, "one", target, "127.0.0.1:" + origin.port());
    }

    @AfterEach
    void close() throws IOException {
        stage.close();
        origin.close();
    }

    private void passes(String tunnel, byte[] bytes) throws IOException {
        try (Peer peer = stage.tunnel(SANDBOX, tunnel)) {
            peer.head();
            peer.say(bytes);
            assertThat(peer.hear(bytes.length)).isEqualTo(new String(bytes, StandardCharsets.ISO_8859_1));
            peer.say("more");
            assertThat(peer.hear(4)).isEqualTo("more");
        }
    }

    private void refused(byte[] bytes) throws IOException {
        int before = (int) stage.count("allowed", "server-name");
        try (Peer peer = stage.tunnel(SANDBOX, target)) {
            assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            peer.say(bytes);
            assertThat(peer.rest()).isEqualTo(ACCESS_DENIED);
        }
        stage.awaitCount("allowed", "server-name", before + 1);
    }

    @Test
    void theSameName() throws IOException {
        passes(target, Hellos.naming("Example.com"));
    }

    @Test
    void anotherNameOrNone() throws IOException {
        refused(Hellos.naming("evil.com"));
        refused(Hellos.naming("www.example.com"));
        refused(Hellos.naming("example.com", Hellos.extension(0xfe0d, new byte[] {0, 1})));
        refused("GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        refused("SSH-2.0-OpenSSH\r\n".getBytes(StandardCharsets.US_ASCII));
    }

    /** An address has no name that TLS could ask for, so whoever allowed it allowed whatever is spoken there. */
    @Test
    void plainHttpIsNoWayAround() throws IOException {
        String get = "GET http://%1$s/ HTTP/1.1\r\nHost: %1$s\r\n\r\n";
        assertThat(stage.answer(SANDBOX, get.formatted(target)))
                .startsWith("HTTP/1.1 400 ")
                .contains("X-Proxy-Error: malformed", "ask for a tunnel");
        assertThat(stage.names.questions()).isEmpty();
        assertThat(origin.accepted()).isZero();
        try (Peer peer = stage.from(SANDBOX)) {
            peer.say(get.formatted("127.0.0.1:" + origin.port()));
            assertThat(peer.hear(5)).as("control").isEqualTo("GET /");
        }
    }

    @Test
    void byteByByte() throws IOException {
        try (Peer peer = stage.tunnel(SANDBOX, target)) {
            peer.head();
            byte[] hello = Hellos.naming("example.com");
            for (byte letter : hello) {
                peer.say(new byte[] {letter});
            }
            assertThat(peer.hear(hello.length)).isEqualTo(new String(hello, StandardCharsets.ISO_8859_1));
        }
    }

    @Test
    void whoSaysNothingIsNotWaitedForLong() throws IOException, InterruptedException {
        stage.close();
        open(Stage.limits(Duration.ofMillis(700)));
        try (Peer peer = stage.tunnel(SANDBOX, target)) {
            peer.head();
            peer.say(new byte[] {22, 3});
            assertThat(peer.rest()).isEmpty();
        }
        stage.awaitCount("allowed", "hello-too-slow", 1);
    }

    @Test
    void aTunnelToAnAddressCarriesAnything() throws IOException {
        passes("127.0.0.1:" + origin.port(), "SSH-2.0-OpenSSH\r\n".getBytes(StandardCharsets.US_ASCII));
    }
}
