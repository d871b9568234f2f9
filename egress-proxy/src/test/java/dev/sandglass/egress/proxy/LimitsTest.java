package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.NEIGHBOUR;
import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import dev.sandglass.egress.request.RequestHead;
import dev.sandglass.egress.tunnel.Allotments;
import dev.sandglass.egress.tunnel.Limits;
import dev.sandglass.egress.tunnel.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every limit, at its bound. */
class LimitsTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(400);
    private static final int MANY = 10_000;

    private final List<Peer> peers = new ArrayList<>();
    private Stage stage;
    private Origin origin;

    LimitsTest() throws InterruptedException, IOException {
        stage = new Stage();
        origin = stage.origin(Origin.ECHO);
    }

    private void open(Limits limits) throws InterruptedException, IOException {
        stage.close();
        stage = new Stage(limits, false, Set.of());
        stage.names.put("example.com", "127.0.0.1");
        origin = stage.origin(Origin.ECHO);
        stage.clients.put(SANDBOX, "one", target());
        stage.clients.put(NEIGHBOUR, "two", target());
    }

    @AfterEach
    void close() throws IOException {
        for (Peer peer : peers) {
            peer.close();
        }
        stage.close();
    }

    private String target() {
        return "example.com:" + origin.port();
    }

    private String status(String source) throws IOException {
        Peer peer = stage.tunnel(source, target());
        peers.add(peer);
        return peer.head().split("\r\n", 2)[0];
    }

    @Test
    void theDefaults() {
        assertThat(Limits.DEFAULT)
                .isEqualTo(new Limits(
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(5),
                        Duration.ofMinutes(5),
                        64,
                        32,
                        20_000,
                        0,
                        Limits.BACKLOG));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Limits(Duration.ZERO, LONG, LONG, LONG, LONG, 1, 1, 1, 0, Limits.BACKLOG));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Limits(LONG, LONG, LONG, LONG, LONG, 0, 1, 1, 0, Limits.BACKLOG));
    }

    @ParameterizedTest
    @ValueSource(ints = {RequestHead.MAX_BYTES, RequestHead.MAX_BYTES + 1})
    void eightKibibytesOfHead(int bytes) throws Exception {
        open(Limits.DEFAULT);
        String begin = "CONNECT " + target() + " HTTP/1.1\r\nX: ";
        String head = begin + "x".repeat(bytes - begin.length() - 4) + "\r\n\r\n";
        try (Peer peer = stage.from(SANDBOX)) {
            peer.say(head);
            assertThat(peer.head()).startsWith(bytes > RequestHead.MAX_BYTES ? "HTTP/1.1 431 " : "HTTP/1.1 200 ");
        }
    }

    @Test
    void aHeadWithoutEnd() throws Exception {
        open(Limits.DEFAULT);
        assertThat(stage.answer(SANDBOX, "x".repeat(RequestHead.MAX_BYTES))).startsWith("HTTP/1.1 431 ");
    }

    @Test
    void aHeadThatComesTooSlowly() throws Exception {
        open(new Limits(SHORT, LONG, LONG, LONG, LONG, 64, 32, 100, 0, Limits.BACKLOG));
        assertThat(stage.answer(SANDBOX, "CONNECT ")).startsWith("HTTP/1.1 408 ");
        assertThat(stage.answer(SANDBOX, "")).startsWith("HTTP/1.1 408 ");
    }

    @Test
    void ofAFloodOfConnectionsOnlySoManyASecondHearAWord() throws Exception {
        open(new Limits(LONG, LONG, LONG, LONG, LONG, 64, 1, 100, 0, Limits.BACKLOG));
        long begin = System.nanoTime();
        int heard = 0;
        for (int i = 0; i < 60; i++) {
            try (Peer peer = stage.from(SANDBOX)) {
                peer.say("?\r\n\r\n");
                heard += peer.rest().startsWith("HTTP/1.1 400 ") ? 1 : 0;
            } catch (IOException closed) {
                // Without a word, as is expected of most.
            }
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        assertThat(heard).isBetween(4, 4 + (int) Math.ceil(4 * seconds));
        assertThat(stage.meters.counter("sandglass.egress.connections.refused").count())
                .isEqualTo(60 - heard);
        assertThat(status(NEIGHBOUR)).startsWith("HTTP/1.1 200 ");
    }

    @Tag("slow")
    @Test
    void whereAReaderStandsStillTheTunnelEndsIfTogetherTheyHoldTooMuch() throws Exception {
        open(new Limits(LONG, LONG, LONG, LONG, LONG, 64, MANY, 100, 0, 1));
        Origin flood = stage.origin(peer -> {
            byte[] piece = new byte[1 << 20];
            while (true) {
                peer.say(piece);
            }
        });
        stage.clients.put(SANDBOX, "one", "example.com:" + flood.port());
        try (Peer flowing = stage.tunnel(NEIGHBOUR, target());
                Peer standing = stage.tunnel(SANDBOX, "example.com:" + flood.port())) {
            assertThat(flowing.head()).startsWith("HTTP/1.1 200 ");
            assertThat(standing.head()).startsWith("HTTP/1.1 200 ");
            await().atMost(LONG).untilAsserted(() -> assertThat(stage.count("allowed", "stalled"))
                    .isEqualTo(1));
            flowing.say("still here");
            assertThat(flowing.hear(10)).isEqualTo("still here");
        }
        await().untilAsserted(() -> assertThat(
                        stage.meters.get("sandglass.egress.backlog").gauge().value())
                .isZero());
    }

    @Test
    void soManyTunnelsAtATime() throws Exception {
        open(new Limits(LONG, LONG, LONG, LONG, LONG, 3, MANY, 100, 0, Limits.BACKLOG));
        for (int i = 0; i < 3; i++) {
            assertThat(status(SANDBOX)).startsWith("HTTP/1.1 200 ");
        }
        assertThat(stage.refusal(SANDBOX, target()))
                .startsWith("HTTP/1.1 429 ")
                .contains("X-Proxy-Error: too-many-tunnels", "Retry-After: 1", "has 3 connections open");
        assertThat(status(NEIGHBOUR)).startsWith("HTTP/1.1 200 ");
        peers.getFirst().close();
        await().untilAsserted(() -> assertThat(status(SANDBOX)).startsWith("HTTP/1.1 200 "));
    }

    @Test
    void soManyNewTunnelsInASecond() {
        Allotments allotments =
                new Allotments(new Limits(LONG, LONG, LONG, LONG, LONG, 100, 4, 100, 0, Limits.BACKLOG), () -> 7);
        Allotments.Allotment one = allotments.of("one");
        for (int i = 0; i < 4; i++) {
            assertThat(Allotments.take(one)).isEmpty();
        }
        assertThat(Allotments.take(one)).hasValue(Outcome.TOO_MANY_NEW_TUNNELS);
        assertThat(Allotments.take(allotments.of("two"))).isEmpty();
    }

    @Test
    void newTunnelsComeBackWithTime() {
        long[] now = {0};
        Allotments allotments =
                new Allotments(new Limits(LONG, LONG, LONG, LONG, LONG, 100, 4, 100, 0, Limits.BACKLOG), () -> now[0]);
        Allotments.Allotment one = allotments.of("one");
        for (int i = 0; i < 4; i++) {
            assertThat(Allotments.take(one)).isEmpty();
        }
        now[0] = 249_000_000;
        assertThat(Allotments.take(one)).hasValue(Outcome.TOO_MANY_NEW_TUNNELS);
        now[0] = 250_000_000;
        assertThat(Allotments.take(one)).isEmpty();
        assertThat(Allotments.take(one)).hasValue(Outcome.TOO_MANY_NEW_TUNNELS);
    }

    @Test
    void soManyConnectionsOfOneSource() throws Exception {
        open(new Limits(LONG, LONG, LONG, LONG, LONG, 2, MANY, 100, 0, Limits.BACKLOG));
        for (int i = 0; i < 5; i++) {
            peers.add(stage.from(SANDBOX));
        }
        // Two threads let them in, so each of them may be the one too many.
        await().atMost(LONG).untilAsserted(() -> {
            assertThat(peers).filteredOn(Peer::isEndedWithoutAWord).hasSize(1);
        });
        assertThat(stage.meters.counter("sandglass.egress.connections.refused").count())
                .isEqualTo(1);
        assertThat(status(NEIGHBOUR)).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void soManyConnectionsOfAll() throws Exception {
        open(new Limits(LONG, LONG, LONG, LONG, LONG, 64, MANY, 2, 0, Limits.BACKLOG));
        assertThat(status(SANDBOX)).startsWith("HTTP/1.1 200 ");
        assertThat(status(NEIGHBOUR)).startsWith("HTTP/1.1 200 ");
        try (Peer third = stage.from(NEIGHBOUR)) {
            assertThat(third.rest()).isEmpty();
        }
    }

    @Tag("slow")
    @Test
    void aTunnelWithoutBytes() throws Exception {
        open(new Limits(LONG, LONG, LONG, LONG, SHORT, 64, MANY, 100, 0, Limits.BACKLOG));
        assertThat(status(SANDBOX)).startsWith("HTTP/1.1 200 ");
        assertThat(peers.getFirst().rest()).isEmpty();
        await().untilAsserted(() -> assertThat(stage.count("allowed", "idle")).isEqualTo(1));
    }

    @Tag("slow")
    @Test
    void dnsThatDoesNotAnswer() throws Exception {
        open(new Limits(LONG, SHORT, LONG, LONG, LONG, 64, MANY, 100, 0, Limits.BACKLOG));
        stage.names.silent("example.com");
        assertThat(stage.refusal(SANDBOX, target()))
                .startsWith("HTTP/1.1 502 ")
                .contains("X-Proxy-Error: lookup-failed", "DNS did not answer within 400 ms");
    }

    @Test
    void namesThatDoNotExistAndServersThatDoNotListen() throws Exception {
        open(Limits.DEFAULT);
        stage.clients.put(SANDBOX, "one", "nowhere.example", target());
        assertThat(stage.refusal(SANDBOX, "nowhere.example:443"))
                // Of the answer to a CONNECT most clients show this line alone.
                .startsWith("HTTP/1.1 502 Bad Gateway - DNS lookup failed\r\nX-Proxy-Error: lookup-failed\r\n")
                .contains("no address for this name")
                .contains("\r\n\r\nThe egress proxy did not reach this host.\nerror: ")
                .endsWith("remedy: it is allowed; check host and port, or try again later\n");
        origin.close();
        assertThat(stage.refusal(SANDBOX, target()))
                .startsWith("HTTP/1.1 502 Bad Gateway - server not reached\r\nX-Proxy-Error: connect-failed\r\n")
                .contains("error: the host refused the connection: nothing listens on this port\n");
    }

    @Test
    void soManyBytes() throws Exception {
        open(new Limits(LONG, LONG, LONG, LONG, LONG, 64, MANY, 100, 20, Limits.BACKLOG));
        try (Peer peer = stage.tunnel(SANDBOX, target())) {
            peer.head();
            peer.say("0123456789");
            assertThat(peer.hear(10)).isEqualTo("0123456789");
            peer.say("x");
            assertThat(peer.rest()).isEmpty();
        }
        assertThat(stage.refusal(SANDBOX, target()))
                .startsWith("HTTP/1.1 429 ")
                .contains("X-Proxy-Error: quota-exceeded");
        stage.awaitCount("allowed", "quota", 1);
    }

    @Test
    void headsThatAreForwardedCountToo() throws Exception {
        open(new Limits(LONG, LONG, LONG, LONG, LONG, 64, MANY, 100, 1000, Limits.BACKLOG));
        String head = "GET http://" + target() + "/ HTTP/1.1\r\nHost: " + target() + "\r\nX: ";
        assertThat(stage.answer(SANDBOX, head + "x".repeat(1000) + "\r\n\r\n")).isEmpty();
        stage.awaitCount("allowed", "quota", 1);
        assertThat(origin.faults()).isEmpty();
        assertThat(stage.refusal(SANDBOX, target())).contains("X-Proxy-Error: quota-exceeded");
    }
}
