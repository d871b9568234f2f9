package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an allowed connection carries, and how it ends. */
class TunnelTest {

    private static final int MIB = 1024 * 1024;
    private static final long FLOOD = 256L * MIB;

    private Stage stage;

    @BeforeEach
    void open() throws InterruptedException {
        stage = new Stage();
        stage.names.put("example.com", "127.0.0.1");
    }

    @AfterEach
    void close() throws IOException {
        stage.close();
    }

    private String allowed(Origin origin) {
        String target = "example.com:" + origin.port();
        stage.clients.put(SANDBOX, "one", target);
        return target;
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.0", "HTTP/1.1"})
    void bytesGoBothWays(String version) throws IOException {
        String target = allowed(stage.origin(Origin.ECHO));
        try (Peer peer = stage.from(SANDBOX)) {
            peer.say("CONNECT " + target + " " + version + "\r\n\r\n");
            assertThat(peer.head()).isEqualTo("HTTP/1.1 200 Connection established\r\n\r\n");
            peer.say("hello");
            assertThat(peer.hear(5)).isEqualTo("hello");
        }
    }

    @Test
    void manyTunnelsOnAllLoops() throws IOException {
        String target = allowed(stage.origin(Origin.ECHO));
        for (int i = 0; i < 8; i++) {
            try (Peer peer = stage.tunnel(SANDBOX, target)) {
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
                peer.say("hello");
                assertThat(peer.hear(5)).isEqualTo("hello");
            }
        }
    }

    @Test
    void whatIsSaidTogetherWithTheRequestIsNotLost() throws IOException {
        String target = allowed(stage.origin(Origin.ECHO));
        try (Peer peer = stage.from(SANDBOX)) {
            peer.say("CONNECT " + target + " HTTP/1.1\r\n\r\nearly");
            assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            assertThat(peer.hear(5)).isEqualTo("early");
        }
    }

    @Test
    void aRequestInPieces() throws IOException {
        String target = allowed(stage.origin(Origin.ECHO));
        try (Peer peer = stage.from(SANDBOX)) {
            for (String letter : ("CONNECT " + target + " HTTP/1.1\r\n\r\nx").split("", -1)) {
                peer.say(letter);
            }
            assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            assertThat(peer.hear(1)).isEqualTo("x");
        }
    }

    @Test
    void theSandboxHasNoMoreToSayAndHearsOn() throws IOException {
        String target = allowed(stage.origin(peer -> {
            String all = peer.rest();
            peer.say("heard " + all);
        }));
        try (Peer peer = stage.tunnel(SANDBOX, target)) {
            peer.head();
            peer.say("all of it");
            peer.endOutput();
            assertThat(peer.rest()).isEqualTo("heard all of it");
        }
        await().untilAsserted(() -> assertThat(stage.proxy().openTunnels()).isZero());
        stage.awaitCount("allowed", "closed", 1);
    }

    @Test
    void theServerHasNoMoreToSayAndHearsOn() throws Exception {
        CompletableFuture<String> heard = new CompletableFuture<>();
        String target = allowed(stage.origin(peer -> {
            peer.say("bye");
            peer.endOutput();
            heard.complete(peer.rest());
        }));
        try (Peer peer = stage.tunnel(SANDBOX, target)) {
            peer.head();
            assertThat(peer.rest()).isEqualTo("bye");
            peer.say("still here");
            peer.endOutput();
            assertThat(heard.get(10, TimeUnit.SECONDS)).isEqualTo("still here");
        }
        await().untilAsserted(() -> assertThat(stage.proxy().openTunnels()).isZero());
    }

    @Test
    void aBrokenConnectionEndsTheOther() throws Exception {
        CompletableFuture<String> heard = new CompletableFuture<>();
        String target = allowed(stage.origin(peer -> heard.complete(peer.rest())));
        Peer peer = stage.tunnel(SANDBOX, target);
        peer.head();
        peer.socket().setSoLinger(true, 0);
        peer.close();
        assertThat(heard.get(10, TimeUnit.SECONDS)).isEmpty();
        await().untilAsserted(() -> assertThat(stage.proxy().openTunnels()).isZero());
    }

    @Test
    void aSlowSandboxSlowsTheServer() throws IOException {
        AtomicLong said = new AtomicLong();
        String target = allowed(stage.origin(peer -> flood(peer, said)));
        try (Peer peer = stage.tunnel(SANDBOX, target)) {
            peer.head();
            long held = whenItStands(said);
            assertThat(held).isLessThan(FLOOD / 4);
            assertThat(counted(peer)).isEqualTo(FLOOD);
        }
    }

    @Tag("slow")
    @Test
    void aSlowServerSlowsTheSandbox() throws Exception {
        CompletableFuture<Void> listen = new CompletableFuture<>();
        CompletableFuture<Long> heard = new CompletableFuture<>();
        AtomicLong said = new AtomicLong();
        String target = allowed(stage.origin(peer -> {
            listen.join();
            heard.complete(counted(peer));
        }));
        try (Peer peer = stage.tunnel(SANDBOX, target)) {
            peer.head();
            Thread.startVirtualThread(() -> {
                try {
                    flood(peer, said);
                } catch (IOException e) {
                    heard.completeExceptionally(e);
                }
            });
            assertThat(whenItStands(said)).isLessThan(FLOOD / 4);
            listen.complete(null);
            assertThat(heard.get(30, TimeUnit.SECONDS)).isEqualTo(FLOOD);
        }
    }

    /** How much was said when nothing more is taken for half a second. */
    private static long whenItStands(AtomicLong said) {
        await().until(() -> said.get() > 0);
        AtomicLong before = new AtomicLong(-1);
        await().pollInterval(500, TimeUnit.MILLISECONDS)
                .atMost(30, TimeUnit.SECONDS)
                .until(() -> before.getAndSet(said.get()) == said.get());
        return said.get();
    }

    private static void flood(Peer peer, AtomicLong said) throws IOException {
        byte[] piece = new byte[MIB];
        Arrays.fill(piece, (byte) 'x');
        while (said.get() < FLOOD) {
            peer.say(piece);
            said.addAndGet(piece.length);
        }
        peer.endOutput();
    }

    private static long counted(Peer peer) throws IOException {
        byte[] piece = new byte[MIB];
        long sum = 0;
        for (int n = peer.socket().getInputStream().read(piece);
                n >= 0;
                n = peer.socket().getInputStream().read(piece)) {
            sum += n;
        }
        return sum;
    }
}
