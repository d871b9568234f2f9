package dev.sandglass.egress.proxy;

import static dev.sandglass.egress.proxy.Stage.NEIGHBOUR;
import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static dev.sandglass.egress.proxy.Stage.STRANGER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.egress.client.ClaimWaits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Requests from pods of pools: refused until the claim, held a moment for it, and admitted by their own credential. */
class SeatsTest {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final String REFUSED = "the proxy knows no running sandbox at this address";

    private static String connect(String target, String user) {
        String shown = Base64.getEncoder().encodeToString((user + ":of-" + user).getBytes(StandardCharsets.US_ASCII));
        return "CONNECT " + target + " HTTP/1.1\r\nProxy-Authorization: Basic " + shown + "\r\n\r\n";
    }

    private static Stage stage(Duration claim) throws InterruptedException {
        return Stage.withSeats(claim, ClaimWaits.MOST_OF_ONE, ClaimWaits.MOST);
    }

    private static void isRefused(String answer) {
        assertThat(answer)
                .startsWith("HTTP/1.1 407 ")
                .contains("X-Proxy-Error: unknown-sandbox")
                .contains(REFUSED);
    }

    @Test
    void whatComesBeforeTheClaimIsHeldAndAdmittedWithIt() throws Exception {
        try (Stage stage = stage(LONG)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.putSeat(SANDBOX);
            try (Peer shown = stage.from(SANDBOX);
                    Peer plain = stage.tunnel(SANDBOX, target)) {
                shown.say(connect(target, "seat"));
                await().until(() -> stage.claims.count() == 2);
                assertThat(origin.accepted()).isZero();
                stage.clients.claim(SANDBOX, "one", "seat", target);
                assertThat(shown.head()).startsWith("HTTP/1.1 200 ");
                assertThat(plain.head()).startsWith("HTTP/1.1 200 ");
            }
            // Who showed no credential was asked for anew, as any sandbox is.
            assertThat(stage.clients.confirmations).hasValue(1);
            assertThat(stage.claims.count()).isZero();
        }
    }

    /** As when the watch lags: what comes after it is served. */
    @Test
    void whoseClaimIsNotSeenWithinThePatienceIsRefusedLikeAStranger() throws Exception {
        try (Stage stage = stage(SHORT)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.putSeat(SANDBOX);
            isRefused(stage.answer(SANDBOX, connect(target, "seat")));
            isRefused(stage.refusal(SANDBOX, target));
            isRefused(stage.refusal(STRANGER, target));
            assertThat(origin.accepted()).isZero();
            stage.clients.claim(SANDBOX, "one", "seat", target);
            try (Peer peer = stage.from(SANDBOX)) {
                peer.say(connect(target, "seat"));
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    @Test
    void onlyTheCredentialOfTheSeatItselfCountsAtItsAddress() throws Exception {
        try (Stage stage = stage(LONG)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.claim(SANDBOX, "one", "seat-a", target);
            stage.clients.claim(NEIGHBOUR, "one", "seat-b", target);
            for (String wrong : List.of("seat-a", "one", "")) {
                assertThat(stage.answer(NEIGHBOUR, connect(target, wrong)))
                        .as(wrong)
                        .startsWith("HTTP/1.1 407 ")
                        .contains("the credential is not that of the sandbox at this address");
            }
            assertThat(origin.accepted()).isZero();
            try (Peer peer = stage.from(NEIGHBOUR)) {
                peer.say(connect(target, "seat-b"));
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
            }
        }
    }

    @Test
    void aCredentialThatIsNotTheSeatsIsHeldTooAndRefusedAfterTheClaim() throws Exception {
        try (Stage stage = stage(LONG)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.putSeat(SANDBOX);
            try (Peer peer = stage.from(SANDBOX)) {
                peer.say(connect(target, "one"));
                await().until(() -> stage.claims.count() == 1);
                stage.clients.claim(SANDBOX, "one", "seat", target);
                assertThat(peer.rest()).startsWith("HTTP/1.1 407 ").contains("the credential is not that");
            }
            assertThat(origin.accepted()).isZero();
        }
    }

    @Test
    void afterTheSandboxIsGoneTheSeatIsRefusedAndItsTunnelEnds() throws Exception {
        try (Stage stage = stage(SHORT)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.putSeat(SANDBOX);
            stage.clients.claim(SANDBOX, "one", "seat", target);
            try (Peer peer = stage.from(SANDBOX)) {
                peer.say(connect(target, "seat"));
                assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
                stage.clients.remove(SANDBOX);
                assertThat(peer.rest()).isEmpty();
            }
            isRefused(stage.answer(SANDBOX, connect(target, "seat")));
        }
    }

    @Test
    void aFloodOfOneSeatIsRefusedFromTheBoundOnAndTheNeighbourIsServed() throws Exception {
        try (Stage stage = Stage.withSeats(LONG, 3, 100)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.putSeat(SANDBOX);
            stage.clients.putSeat(NEIGHBOUR);
            List<Peer> held = new ArrayList<>();
            try {
                hold(stage, SANDBOX, target, 3, held);
                isRefused(stage.refusal(SANDBOX, target));
                hold(stage, NEIGHBOUR, target, 1, held);
                stage.clients.claim(SANDBOX, "one", "seat-a", target);
                stage.clients.claim(NEIGHBOUR, "two", "seat-b", target);
                for (Peer peer : held) {
                    assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
                }
            } finally {
                close(held);
            }
        }
    }

    @Test
    void aFloodOfAllSeatsIsRefusedFromTheBoundOnAndWhoIsNoSeatIsServed() throws Exception {
        try (Stage stage = Stage.withSeats(LONG, 2, 2)) {
            Origin origin = stage.origin(Origin.ECHO);
            String target = "127.0.0.1:" + origin.port();
            stage.clients.putSeat(SANDBOX);
            stage.clients.putSeat(NEIGHBOUR);
            List<Peer> held = new ArrayList<>();
            try {
                hold(stage, SANDBOX, target, 2, held);
                isRefused(stage.refusal(NEIGHBOUR, target));
                stage.clients.put(STRANGER, "three", target);
                try (Peer peer = stage.tunnel(STRANGER, target)) {
                    assertThat(peer.head()).startsWith("HTTP/1.1 200 ");
                }
                assertThat(stage.claims.count()).isEqualTo(2);
            } finally {
                close(held);
            }
        }
    }

    private static void hold(Stage stage, String source, String target, int times, List<Peer> to) throws IOException {
        int before = stage.claims.count();
        for (int i = 0; i < times; i++) {
            to.add(stage.tunnel(source, target));
        }
        await().until(() -> stage.claims.count() == before + times);
    }

    private static void close(List<Peer> peers) throws IOException {
        for (Peer peer : peers) {
            peer.close();
        }
    }

    @Test
    void whoIsNoSeatNeverWaitsForAClaim() throws Exception {
        // One that waited would wait for ever, or be refused at once.
        try (Stage stage = Stage.withSeats(LONG, 1, 1)) {
            isRefused(stage.refusal(STRANGER, "example.com:443"));
            assertThat(stage.claims.count()).isZero();
        }
    }
}
