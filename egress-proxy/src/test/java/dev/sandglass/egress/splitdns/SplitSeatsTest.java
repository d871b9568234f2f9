package dev.sandglass.egress.splitdns;

import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.egress.dns.Queries;
import dev.sandglass.egress.proxy.Origin;
import dev.sandglass.egress.proxy.Peer;
import dev.sandglass.egress.proxy.Stage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A pod of a pool that knows no proxy: its questions and its requests are held for its claim too. */
class SplitSeatsTest {

    private static final int REFUSED = 5;
    private static final byte[] QUESTION = Queries.of("example.com", Queries.A);

    private static SplitStage split(Duration claim, int plainTarget) throws InterruptedException {
        return new SplitStage(Stage.withSeats(claim, 2, 4), plainTarget, 443, 100);
    }

    private static CompletableFuture<Integer> ask(SplitStage split) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return Queries.code(split.ask(SANDBOX, QUESTION));
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                Thread::startVirtualThread);
    }

    @Test
    void aQuestionIsAnsweredOnceTheClaimIsSeenAndTheFloodBeyondTheBoundIsRefused() throws Exception {
        try (SplitStage split = split(Duration.ofMinutes(5), 80)) {
            split.stage.clients.putSeat(SANDBOX);
            CompletableFuture<Integer> first = ask(split);
            CompletableFuture<Integer> second = ask(split);
            await().until(() -> split.stage.claims.count() == 2);
            assertThat(Queries.code(split.ask(SANDBOX, QUESTION))).isEqualTo(REFUSED);
            split.stage.clients.claim(SANDBOX, "one", "seat", "example.com");
            assertThat(first.get(10, TimeUnit.SECONDS)).isZero();
            assertThat(second.get(10, TimeUnit.SECONDS)).isZero();
        }
    }

    @Test
    void withoutAClaimTheQuestionIsRefused() throws Exception {
        try (SplitStage split = split(Duration.ofMillis(20), 80)) {
            split.stage.clients.putSeat(SANDBOX);
            assertThat(Queries.code(split.ask(SANDBOX, QUESTION))).isEqualTo(REFUSED);
        }
    }

    @Test
    void aRequestAtTheDoorIsServedOnceTheClaimIsSeen() throws Exception {
        Stage stage = Stage.withSeats(Duration.ofMinutes(5), 2, 4);
        Origin origin = stage.origin(Origin.ECHO);
        try (SplitStage split = new SplitStage(stage, origin.port(), 443, 100)) {
            stage.names.put("example.com", "127.0.0.1");
            stage.clients.putSeat(SANDBOX);
            try (Peer peer = split.plain(SANDBOX)) {
                String first = "GET / HTTP/1.1\r\n";
                peer.say(first + "Host: example.com\r\n\r\n");
                await().until(() -> stage.claims.count() == 1);
                assertThat(origin.accepted()).isZero();
                stage.clients.claim(SANDBOX, "one", "seat", "example.com:" + origin.port());
                assertThat(peer.hear(first.length())).isEqualTo(first);
            }
        }
    }
}
