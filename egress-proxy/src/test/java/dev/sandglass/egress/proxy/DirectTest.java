package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.NEIGHBOUR;
import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static dev.sandglass.egress.proxy.Stage.STRANGER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.egress.splitdns.SplitStage;
import dev.sandglass.egress.tls.Hellos;
import dev.sandglass.egress.tunnel.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients that take the proxy for the server: the same verdicts as for those that know it, by other words. */
class DirectTest {

    private static final String ACCESS_DENIED = "\u0015\u0003\u0003\0\u0002\u00021";

    private final CompletableFuture<String> heard = new CompletableFuture<>();
    private Origin tls;
    private Origin plain;
    private SplitStage split;

    @BeforeEach
    void open() throws InterruptedException, IOException {
        tls = new Origin("127.0.0.1", Origin.ECHO);
        plain = new Origin("127.0.0.1", peer -> {
            heard.complete(peer.head());
            peer.say("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
        });
        split = new SplitStage(Limits.DEFAULT, plain.port(), tls.port(), 100);
        for (String name : new String[] {"example.com", "other.example", "inner.example"}) {
            split.stage.names.put(name, name.equals("inner.example") ? "127.0.0.99" : "127.0.0.1");
        }
        split.stage.clients.put(
                SANDBOX,
                "one",
                "example.com:" + tls.port(),
                "example.com:" + plain.port(),
                "elsewhere.example:1",
                "inner.example:" + tls.port());
        split.stage.clients.put(NEIGHBOUR, "two", "other.example:" + tls.port(), "other.example:" + plain.port());
    }

    @AfterEach
    void close() throws IOException {
        split.close();
        tls.close();
        plain.close();
    }

    private void reaches(String source, String name) throws IOException {
        byte[] hello = Hellos.naming(name);
        try (Peer peer = split.tls(source)) {
            peer.say(hello);
            assertThat(peer.hear(hello.length)).isEqualTo(SplitStage.text(hello));
            peer.say("more");
            assertThat(peer.hear(4)).isEqualTo("more");
        }
    }

    private void refused(String source, byte[] bytes) throws IOException {
        int before = tls.accepted();
        try (Peer peer = split.tls(source)) {
            peer.say(bytes);
            assertThat(peer.rest()).isEqualTo(ACCESS_DENIED);
        }
        assertThat(tls.accepted()).isEqualTo(before);
    }

    private void refused(String source, String head, String status) throws IOException {
        try (Peer peer = split.plain(source)) {
            peer.say(head);
            assertThat(peer.rest()).as(head).startsWith("HTTP/1.1 " + status);
        }
        assertThat(plain.accepted()).isZero();
    }

    private static String get(String host) {
        return "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n";
    }

    @Test
    void tlsGoesWhereItsServerNameSays() throws IOException {
        reaches(SANDBOX, "example.com");
        reaches(SANDBOX, "Example.com");
        reaches(NEIGHBOUR, "other.example");
        split.stage.awaitCount("allowed", "closed", 3);
    }

    @Test
    void theFirstMessageMayComeByteByByte() throws IOException {
        byte[] hello = Hellos.naming("example.com");
        try (Peer peer = split.tls(SANDBOX)) {
            for (byte letter : hello) {
                peer.say(new byte[] {letter});
            }
            assertThat(peer.hear(hello.length)).isEqualTo(SplitStage.text(hello));
        }
    }

    @Test
    void aDeniedNameIsNeitherLookedUpNorReached() throws IOException {
        refused(SANDBOX, Hellos.naming("evil.example"));
        refused(SANDBOX, Hellos.naming("www.example.com"));
        refused(SANDBOX, Hellos.naming("other.example"));
        refused(SANDBOX, Hellos.naming("elsewhere.example"));
        refused(NEIGHBOUR, Hellos.naming("example.com"));
        assertThat(split.stage.names.questions()).isEmpty();
        split.stage.awaitCount("not-allowed", "refused", 5);
    }

    @Test
    void whoHidesTheNameOrHasNoneOrIsNoTlsIsRefused() throws IOException {
        refused(SANDBOX, Hellos.naming("example.com", Hellos.extension(0xfe0d, new byte[] {0, 1})));
        refused(SANDBOX, Hellos.naming("127.0.0.1"));
        refused(SANDBOX, Hellos.naming("evil\0.example.com"));
        refused(SANDBOX, Hellos.naming("", Hellos.extension(10, new byte[2])));
        refused(SANDBOX, get("example.com").getBytes(StandardCharsets.US_ASCII));
        refused(SANDBOX, "SSH-2.0-OpenSSH\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(split.stage.names.questions()).isEmpty();
    }

    @Test
    void aNameThatLeadsInwardsIsRefused() throws IOException {
        refused(SANDBOX, Hellos.naming("inner.example"));
        split.stage.awaitCount("address-denied", "refused", 1);
    }

    @Test
    void whoIsUnknownIsRefused() throws IOException {
        refused(STRANGER, Hellos.naming("example.com"));
        refused(STRANGER, get("example.com"), "407");
        split.stage.clients.setSynced(false);
        refused(SANDBOX, Hellos.naming("example.com"));
        refused(SANDBOX, get("example.com"), "503");
    }

    @Test
    void whoSaysNothingIsNotWaitedForLong() throws IOException, InterruptedException {
        Limits hasty = Stage.limits(Duration.ofMillis(700));
        try (SplitStage impatient = new SplitStage(hasty, plain.port(), tls.port(), 100)) {
            impatient.stage.clients.put(SANDBOX, "one", "example.com:" + tls.port());
            try (Peer peer = impatient.tls(SANDBOX)) {
                peer.say(new byte[] {22, 3});
                assertThat(peer.rest()).isEqualTo(ACCESS_DENIED);
            }
            impatient.stage.awaitCount("head-too-slow", "refused", 1);
        }
    }

    @Test
    void aTunnelEndsWithItsRule() throws IOException {
        byte[] hello = Hellos.naming("example.com");
        try (Peer peer = split.tls(SANDBOX)) {
            peer.say(hello);
            peer.hear(hello.length);
            split.stage.clients.put(SANDBOX, "one", "other.example");
            assertThat(peer.rest()).isEmpty();
        }
        split.stage.awaitCount("allowed", "rule-gone", 1);
    }

    @Test
    void theLimitsAreThoseOfTheProxy() throws IOException, InterruptedException {
        Limits usual = Limits.DEFAULT;
        Limits one = new Limits(
                usual.head(),
                usual.lookup(),
                usual.connect(),
                usual.hello(),
                usual.idle(),
                1,
                100,
                1000,
                0,
                Limits.BACKLOG);
        try (SplitStage narrow = new SplitStage(one, plain.port(), tls.port(), 100)) {
            narrow.stage.names.put("example.com", "127.0.0.1");
            narrow.stage.clients.put(SANDBOX, "one", "example.com:" + tls.port());
            byte[] hello = Hellos.naming("example.com");
            try (Peer open = narrow.stage.tunnel(SANDBOX, "example.com:" + tls.port())) {
                assertThat(open.head()).startsWith("HTTP/1.1 200");
                try (Peer second = narrow.tls(SANDBOX)) {
                    second.say(hello);
                    assertThat(second.rest()).isEqualTo(ACCESS_DENIED);
                }
            }
            narrow.stage.awaitCount("too-many-tunnels", "refused", 1);
        }
    }

    @Test
    void plainHttpGoesWhereItsHostSays() throws Exception {
        try (Peer peer = split.plain(SANDBOX)) {
            peer.say("GET /a?b HTTP/1.1\r\nHost: EXAMPLE.com\r\nConnection: keep-alive\r\nAccept: */*\r\n\r\n");
            assertThat(peer.rest()).isEqualTo("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
        }
        assertThat(heard.get(10, TimeUnit.SECONDS))
                .isEqualTo("GET /a?b HTTP/1.1\r\nHost: example.com:" + plain.port()
                        + "\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    }

    @Test
    void aSecondRequestOnTheConnectionIsNotPassedOn() throws Exception {
        try (Peer peer = split.plain(SANDBOX)) {
            peer.say(get("example.com") + get("evil.example"));
            assertThat(peer.rest()).endsWith("\r\n\r\nbody");
        }
        assertThat(heard.get(10, TimeUnit.SECONDS)).doesNotContain("evil");
        assertThat(plain.accepted()).isEqualTo(1);
    }

    @Test
    void deniedHostsAreAnsweredReadably() throws IOException {
        refused(SANDBOX, get("evil.example"), "403 Forbidden\r\nX-Proxy-Error: not-allowed");
        refused(SANDBOX, get("elsewhere.example"), "403");
        refused(SANDBOX, get("127.0.0.1"), "403");
        refused(NEIGHBOUR, get("example.com"), "403");
        assertThat(split.stage.names.questions()).isEmpty();
    }

    @Test
    void whatTwoProgramsCouldReadDifferentlyIsRefused() throws IOException {
        String twice = "GET / HTTP/1.1\r\nHost: example.com\r\nHost: evil.example\r\n\r\n";
        String port = plain.port() == 81 ? "82" : "81";
        refused(SANDBOX, twice, "400");
        refused(SANDBOX, "GET / HTTP/1.1\r\n\r\n", "400");
        refused(SANDBOX, "GET / HTTP/1.0\r\n\r\n", "400");
        refused(SANDBOX, get("example.com:" + port), "400");
        refused(SANDBOX, get("user@example.com"), "400");
        refused(SANDBOX, get("example.com, evil.example"), "400");
        refused(SANDBOX, "GET http://evil.example/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "400");
        refused(SANDBOX, "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", "400");
        refused(SANDBOX, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n", "400");
        refused(SANDBOX, "OPTIONS * HTTP/1.1\r\nHost: example.com\r\n\r\n", "400");
        refused(SANDBOX, "GET /#a HTTP/1.1\r\nHost: example.com\r\n\r\n", "400");
        refused(
                SANDBOX,
                "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "400");
    }

    @Test
    void whereCredentialsAreRequiredTheseDoorsAreShut() throws IOException, InterruptedException {
        Stage strict = new Stage(Limits.DEFAULT, true, EgressProxy.Guard.TLS_PORTS);
        try (SplitStage shut = new SplitStage(strict, plain.port(), tls.port(), 100)) {
            strict.clients.put(SANDBOX, "one", "example.com:" + tls.port());
            try (Peer peer = shut.tls(SANDBOX)) {
                peer.say(Hellos.naming("example.com"));
                assertThat(peer.rest()).isEqualTo(ACCESS_DENIED);
            }
        }
        assertThat(tls.accepted()).isZero();
    }

    /** One TLS connection carries what it likes inside: an inner Host that differs is not seen, and documented. */
    @Test
    void whatIsSaidInsideOfTlsIsNotRead() throws IOException {
        byte[] hello = Hellos.naming("example.com");
        try (Peer peer = split.tls(SANDBOX)) {
            peer.say(hello);
            peer.hear(hello.length);
            peer.say(get("evil.example"));
            assertThat(peer.hear(get("evil.example").length())).isEqualTo(get("evil.example"));
        }
        assertThat(split.stage.names.questions()).containsOnly("example.com");
    }
}
