package dev.sandglass.egress.splitdns;

import static dev.sandglass.egress.dns.Queries.code;
import static dev.sandglass.egress.dns.Queries.records;
import static dev.sandglass.egress.proxy.Stage.NEIGHBOUR;
import static dev.sandglass.egress.proxy.Stage.SANDBOX;
import static dev.sandglass.egress.proxy.Stage.STRANGER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.egress.denial.Denial;
import dev.sandglass.egress.dns.AnswerWriter;
import dev.sandglass.egress.dns.Queries;
import dev.sandglass.egress.proxy.Peer;
import dev.sandglass.egress.proxy.Stage;
import dev.sandglass.egress.tunnel.Limits;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** DNS for clients that know no proxy: what is answered to whom, and that nothing is ever asked on. */
class SplitDnsTest {

    private static final int NO_SUCH_NAME = 3;
    private static final int REFUSED = 5;
    /** Questions for which the socket of the proxy surely has room; a divisor of what may wait. */
    private static final int AT_ONCE = 50;

    private static final byte[] THE_SERVICE = {10, 96, 7, 7};

    private SplitStage split;

    @BeforeEach
    void open() throws InterruptedException {
        split = new SplitStage(Limits.DEFAULT, 80, 443, 100);
        split.stage.clients.put(
                SANDBOX, "one", "example.com", "*.wild.example", "plain.example:80", "db.example:5432", "203.0.113.7");
        split.stage.clients.put(NEIGHBOUR, "two", "other.example");
    }

    @AfterEach
    void close() throws IOException {
        // Whatever was asked here: the proxy's own resolver heard nothing of it.
        assertThat(split.stage.names.questions()).isEmpty();
        split.close();
    }

    private void leadsHere(String source, String name) throws IOException {
        byte[] answer = split.ask(source, Queries.of(name, Queries.A));
        assertThat(code(answer)).as(name).isZero();
        assertThat(records(answer)).as(name).isEqualTo(1);
        assertThat(Arrays.copyOfRange(answer, answer.length - 4, answer.length)).isEqualTo(THE_SERVICE);
        assertThat(answer[answer.length - 7]).isEqualTo((byte) AnswerWriter.TTL);
    }

    private void isUnknown(String source, String name) throws IOException {
        for (int type : new int[] {Queries.A, Queries.AAAA, Queries.TXT, Queries.HTTPS}) {
            byte[] answer = split.ask(source, Queries.of(name, type));
            assertThat(code(answer)).as(name).isEqualTo(NO_SUCH_NAME);
            assertThat(records(answer)).as(name).isZero();
        }
    }

    private double counted(String answer) {
        return split.stage
                .meters
                .counter("sandglass.egress.queries", "answer", answer)
                .count();
    }

    @Test
    void allowedNamesLeadToTheProxy() throws IOException {
        leadsHere(SANDBOX, "example.com");
        leadsHere(SANDBOX, "EXAMPLE.com");
        leadsHere(SANDBOX, "a.b.wild.example");
        leadsHere(SANDBOX, "plain.example");
        assertThat(counted("address")).isEqualTo(4);
    }

    @Test
    void theTypesThatWouldLeadAroundTheProxyHaveNoData() throws IOException {
        for (int type : new int[] {Queries.AAAA, Queries.TXT, Queries.HTTPS, 64, 255}) {
            byte[] answer = split.ask(SANDBOX, Queries.of("example.com", type));
            assertThat(code(answer)).isZero();
            assertThat(records(answer)).isZero();
        }
    }

    @Test
    void deniedNamesDoNotExist() throws IOException {
        isUnknown(SANDBOX, "evil.example");
        isUnknown(SANDBOX, "www.example.com");
        isUnknown(SANDBOX, "wild.example");
    }

    @Test
    void deniedNamesAreTold() throws IOException {
        split.ask(SANDBOX, Queries.of("Evil.example", Queries.A));
        split.ask(SANDBOX, Queries.of("example.com", Queries.A));
        assertThat(split.stage.denials)
                .singleElement()
                .extracting(Denial::sandboxUid, Denial::host, Denial::port, Denial::reason)
                .containsExactly("one", "evil.example", 443, "not-allowed");
    }

    @Test
    void aNameThatIsAllowedOnAnotherPortOnlyIsNotBehindTheDoors() throws IOException {
        isUnknown(SANDBOX, "db.example");
    }

    @Test
    void whatIsNoHostsNameDoesNotExist() throws IOException {
        isUnknown(SANDBOX, "_dmarc.wild.example");
        isUnknown(SANDBOX, "7.113.0.203.in-addr.arpa");
    }

    /** What labels carry reaches nobody: neither denied ones nor those below a wildcard. */
    @Test
    void labelsCarryNothingOut() throws IOException {
        isUnknown(SANDBOX, "c2VjcmV0".repeat(7) + ".evil.example");
        leadsHere(SANDBOX, "c2VjcmV0".repeat(7) + ".wild.example");
    }

    @Test
    void aNeighboursNamesAreItsOwn() throws IOException {
        leadsHere(NEIGHBOUR, "other.example");
        isUnknown(NEIGHBOUR, "example.com");
        isUnknown(SANDBOX, "other.example");
    }

    @Test
    void whoIsUnknownIsRefusedWhateverItAsks() throws IOException {
        assertThat(code(split.ask(STRANGER, Queries.of("example.com", Queries.A))))
                .isEqualTo(REFUSED);
        assertThat(code(split.ask(STRANGER, Queries.of("evil.example", Queries.A))))
                .isEqualTo(REFUSED);
        split.stage.clients.remove(SANDBOX);
        assertThat(code(split.ask(SANDBOX, Queries.of("example.com", Queries.A))))
                .isEqualTo(REFUSED);
    }

    @Test
    void whoAsksBeforeTheWatchHasToldOfItIsAnsweredOnceItHas() throws Exception {
        try (SplitStage waiting = new SplitStage(Stage.waiting(Duration.ofMinutes(5)), 80, 443, 100)) {
            var answer = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return waiting.ask(STRANGER, Queries.of("example.com", Queries.A));
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    },
                    Thread::startVirtualThread);
            await().until(() -> waiting.stage.clients.questions.get() >= 2);
            waiting.stage.clients.put(STRANGER, "new", "example.com");
            assertThat(code(answer.get(10, TimeUnit.SECONDS))).isZero();
        }
    }

    @Test
    void notMoreThanSoManyQuestionsWait() throws Exception {
        try (SplitStage waiting = new SplitStage(Stage.waiting(Duration.ofMinutes(5)), 80, 443, 100)) {
            byte[] question = Queries.of("example.com", Queries.A);
            for (int asked = 1; asked <= DnsResponder.MOST_WAITING; asked++) {
                waiting.send(STRANGER, question);
                if (asked % AT_ONCE == 0) {
                    int soFar = asked;
                    await().until(() -> waiting.waitingQuestions() == soFar);
                }
            }
            assertThat(code(waiting.ask(STRANGER, question))).isEqualTo(2);
        }
    }

    @Test
    void nobodyIsAnsweredBeforeTheSandboxesAreKnown() throws IOException {
        split.stage.clients.setSynced(false);
        assertThat(code(split.ask(SANDBOX, Queries.of("example.com", Queries.A))))
                .isEqualTo(2);
    }

    @Test
    void aChangedListCountsAtOnce() throws IOException {
        leadsHere(SANDBOX, "example.com");
        split.stage.clients.put(SANDBOX, "one", "new.example");
        isUnknown(SANDBOX, "example.com");
        leadsHere(SANDBOX, "new.example");
    }

    @Test
    void moreThanSoManyASecondAreRefusedAndTheNeighbourIsNot() throws IOException, InterruptedException {
        try (SplitStage narrow = new SplitStage(Limits.DEFAULT, 80, 443, 1)) {
            narrow.stage.clients.put(SANDBOX, "one", "example.com");
            narrow.stage.clients.put(NEIGHBOUR, "two", "other.example");
            byte[] question = Queries.of("example.com", Queries.A);
            int asked = 1;
            while (code(narrow.ask(SANDBOX, question)) != REFUSED) {
                assertThat(asked++).isLessThan(100);
            }
            assertThat(asked).isGreaterThan(1);
            assertThat(code(narrow.ask(NEIGHBOUR, Queries.of("other.example", Queries.A))))
                    .isZero();
        }
    }

    @Tag("slow")
    @Test
    void whatIsNoQuestionIsAnsweredShortOrNotAtAll() throws IOException {
        assertThat(split.ask(SANDBOX, new byte[600])).hasSize(12);
        assertThat(split.ask(SANDBOX, new byte[3], 200)).isEmpty();
        byte[] answer = split.ask(SANDBOX, Queries.of("example.com", Queries.A));
        assertThat(split.ask(SANDBOX, answer, 200)).isEmpty();
        await().untilAsserted(() -> assertThat(counted("dropped")).isEqualTo(2));
    }

    private static byte[] counted(byte[] message) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(message.length >> 8);
        out.write(message.length);
        out.writeBytes(message);
        return out.toByteArray();
    }

    @Test
    void byTcpTooInPiecesAndSeveral() throws IOException {
        byte[] question = Queries.extended("example.com", Queries.A);
        byte[] one = counted(question);
        byte[] answer = split.ask(SANDBOX, question);
        String twice = SplitStage.text(counted(answer)).repeat(2);
        try (Peer peer = Peer.connect(SANDBOX, split.doors.dnsPort())) {
            peer.say(Arrays.copyOf(one, 5));
            peer.say(Arrays.copyOfRange(one, 5, one.length));
            peer.say(one);
            assertThat(peer.hear(twice.length())).isEqualTo(twice);
        }
    }

    @Test
    void aConnectionThatSaysTooMuchIsClosed() throws IOException {
        assertThat(split.stream(SANDBOX, new byte[] {2, 1}, new byte[513])).isEmpty();
    }

    @Test
    void aSourceHasButSoManyConnections() throws IOException {
        Peer[] open = new Peer[8];
        try {
            byte[] question = counted(Queries.of("example.com", Queries.A));
            for (int i = 0; i < open.length; i++) {
                open[i] = Peer.connect(SANDBOX, split.doors.dnsPort());
                open[i].say(question);
            }
            // Each is served, and so each was counted.
            for (Peer peer : open) {
                assertThat(peer.hear(2)).hasSize(2);
            }
            assertThat(split.stream(SANDBOX, question)).isEmpty();
            assertThat(split.stream(NEIGHBOUR, counted(Queries.of("other.example", Queries.A))))
                    .isNotEmpty();
        } finally {
            for (Peer peer : open) {
                if (peer != null) {
                    peer.close();
                }
            }
        }
    }
}
