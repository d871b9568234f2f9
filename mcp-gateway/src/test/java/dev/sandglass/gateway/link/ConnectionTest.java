package dev.sandglass.gateway.link;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.FakeLink.PaperWire;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.FileOperation;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/** What becomes of verbs and listeners, and of messages that nobody waits for. */
class ConnectionTest {

    private static final Duration MOMENT = Duration.ofMillis(10);
    private static final Duration LONG = Duration.ofMinutes(2);

    private final FakeLink link = new FakeLink();

    @Test
    void refusalFailsTheFutureWithItsCode() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        PaperWire wire = link.open("boot-1");
        wire.says(SupervisorFrames.refusal(wire.idOf("metrics"), "internal", "no"));
        assertThat(failure(answer).isRefusal("internal")).isTrue();
    }

    @Test
    void aVerbThatTakesTooLongDoesNotEndAConnectionThatSpeaks() {
        link.asks(new Verb.Metrics());
        PaperWire wire = link.open("boot-1");
        link.pass(FakeLink.TIMEOUT.minusSeconds(1));
        wire.says(SupervisorFrames.event("python/default", 1, "died"));
        link.pass(Duration.ofSeconds(1));
        assertThat(wire.closed).isFalse();
    }

    @Test
    void timeOutOfAnOpenConnectionSaysThatItIsOpen() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        link.open("boot-1");
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer)).hasMessageContaining("connected, but no answer");
    }

    @Test
    void answersOfAnOldWireCountForNothing() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        PaperWire old = link.open("boot-1");
        link.dialling.broken(old, "gone");
        old.says(SupervisorFrames.reply(old.idOf("metrics"), "{}"));
        assertThat(answer).isNotDone();
    }

    @ParameterizedTest
    @CsvSource({"boot-1, UNANSWERED", "boot-2, RESTARTED"})
    void aDeletionIsNeverSentTwiceAndAReadingIs(String bootId, Kind kind) {
        link.asks(new Verb.Files(new FileOperation.Stat("unsent")));
        PaperWire old = link.open("boot-1");
        CompletableFuture<Answer> deletion = link.ask(new Verb.Files(new FileOperation.Delete("a", true)));
        CompletableFuture<Answer> move = link.ask(new Verb.Files(new FileOperation.Move("a", "b")));
        CompletableFuture<Answer> reading = link.ask(new Verb.Files(new FileOperation.Read("a", 0, 9)));
        link.dialling.broken(old, "gone");
        link.pass(MOMENT);

        PaperWire wire = link.open(bootId);

        assertThat(failure(deletion).kind()).isEqualTo(kind);
        assertThat(failure(move).kind()).isEqualTo(kind);
        assertThat(reading).isNotDone();
        assertThat(wire.said()).containsExactly("hello", "files", "files 0");
    }

    static final List<Verb.OfSession> DEEDS = List.of(
            new Verb.Reset("python", "s"), new Verb.Close("python", "s"), new Verb.InterruptSession("python", "s"));

    /** In between another replica may have run code in the session, which the second one would end. */
    @ParameterizedTest
    @FieldSource("DEEDS")
    void whatIsDoneToASessionIsNeverSentTwice(Verb deed) {
        assertThat(whenTheWireBreaksAfter(deed, "boot-1")).isEqualTo(Kind.UNANSWERED);
    }

    @ParameterizedTest
    @FieldSource("DEEDS")
    void norToASessionOfARestartedContainer(Verb deed) {
        assertThat(whenTheWireBreaksAfter(deed, "boot-2")).isEqualTo(Kind.RESTARTED);
    }

    /** How a verb fails that is not sent again. */
    private Kind whenTheWireBreaksAfter(Verb deed, String nextBoot) {
        link.connection.listen(_ -> {});
        PaperWire old = link.open("boot-1");
        CompletableFuture<Answer> answer = link.ask(deed);
        link.dialling.broken(old, "gone");
        link.pass(MOMENT);

        assertThat(link.open(nextBoot).said()).containsExactly("hello");
        return failure(answer).kind();
    }

    @ParameterizedTest
    @FieldSource("DEEDS")
    void whatWasNotSentYetIsSentOnceThereIsAConnection(Verb deed) {
        CompletableFuture<Answer> answer = link.ask(deed);
        assertThat(link.open("boot-1").said()).containsExactly("hello", deed.word());
        assertThat(answer).isNotDone();
    }

    static final List<Verb.Following> RUNS = List.of(
            new Verb.Execute("e", "python", "s", null, Blob.EMPTY, Map.of(), LONG, true),
            new Verb.Command("e", "ls", List.of(), "", Map.of(), Blob.EMPTY, LONG, false, false),
            new Verb.Install("e", "python", List.of("a"), LONG, true));

    @ParameterizedTest
    @FieldSource("RUNS")
    void ofARunThatWasSentAndNotAnsweredItIsNotSaidThatNothingWasBegun(Verb run) {
        CompletableFuture<Answer> answer = link.ask(run);
        link.open("boot-1");
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer).kind()).isEqualTo(Kind.UNANSWERED);
    }

    @ParameterizedTest
    @FieldSource("RUNS")
    void aRunThatWasSentOverAWireThatBrokeMayHaveRunToo(Verb run) {
        link.asks(new Verb.Metrics());
        PaperWire wire = link.open("boot-1");
        CompletableFuture<Answer> answer = link.ask(run);
        link.dialling.broken(wire, "gone");
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer).kind()).isEqualTo(Kind.UNANSWERED);
    }

    @ParameterizedTest
    @FieldSource("RUNS")
    void aRunThatWasSentMayHaveRunWhenTheGatewayEnds(Verb run) {
        CompletableFuture<Answer> answer = link.ask(run);
        link.open("boot-1");
        link.connection.shutDown(new LinkException(Kind.CLOSED, "end"));
        assertThat(failure(answer).kind()).isEqualTo(Kind.UNANSWERED);
    }

    @ParameterizedTest
    @FieldSource("RUNS")
    void aRunThatWasNeverSentWasNotBegun(Verb run) {
        CompletableFuture<Answer> answer = link.ask(run);
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer).kind()).isEqualTo(Kind.UNREACHABLE);
    }

    @Test
    void aRunThatWasRefusedDidNotRun() {
        CompletableFuture<Answer> answer = link.ask(RUNS.getFirst());
        PaperWire wire = link.open("boot-1");
        wire.says(SupervisorFrames.refusal(wire.idOf("execute"), "rejected", "full"));
        assertThat(failure(answer).isRefusal("rejected")).isTrue();
    }

    @Test
    void aDeletionThatWasNotSentYetIsSent() {
        CompletableFuture<Answer> deletion = link.ask(new Verb.Files(new FileOperation.Delete("a", true)));

        assertThat(link.open("boot-1").said()).containsExactly("hello", "files");
        assertThat(deletion).isNotDone();
    }

    @Test
    void whatCameOfFilesIsAcknowledgedWhoeverWaitsForIt() {
        link.asks(new Verb.Files(new FileOperation.Read("a", 0, 9)));
        PaperWire old = link.open("boot-1");
        old.says(SupervisorFrames.content(old.idOf("files"), 7));
        old.says(SupervisorFrames.content("expired", 5));
        old.says(SupervisorFrames.reply("expired", "{}"));
        assertThat(old.said()).containsExactly("hello", "files 0", "credit /files 7", "credit /files 12");

        link.asks(new Verb.Files(new FileOperation.Read("a", 0, 9)));
        link.dialling.broken(old, "gone");
        link.pass(MOMENT);
        PaperWire wire = link.open("boot-1");
        wire.says(SupervisorFrames.content(wire.idOf("files"), 3));
        assertThat(wire.said()).containsExactly("hello", "files 0", "credit /files 3");
    }

    @Test
    void whatIsWithdrawnBeforeItWasSentIsNeverSent() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        link.asks(new Verb.ListAll());
        answer.cancel(false);
        link.runCommands();
        assertThat(link.open("boot-1").said()).containsExactly("hello", "list");
    }

    @Test
    void whatIsWithdrawnAfterItWasSentKeepsNothingOpen() {
        CompletableFuture<Answer> answer = link.ask(new Verb.ListAll());
        PaperWire wire = link.open("boot-1");
        answer.cancel(false);
        link.runCommands();
        assertThat(link.connection.closeIfIdle(Duration.ZERO)).isTrue();
        assertThat(wire.closed).isTrue();
    }

    @Test
    void malformedAndStrayMessagesAreCountedAndDropped() {
        link.asks(new Verb.Metrics());
        PaperWire wire = link.open("boot-1");
        wire.says(List.of(SupervisorFrames.bytes("?")));
        wire.says(SupervisorFrames.reply("unknown", "{}"));
        wire.says(SupervisorFrames.stdout("unknown", 0, "x"));
        assertThat(link.counters.malformed().sum()).isEqualTo(1);
        assertThat(link.counters.stray().sum()).isEqualTo(2);
        assertThat(wire.closed).isFalse();
    }

    @Test
    void pendingVerbsAreBounded() {
        for (int i = 0; i < Connection.MAX_PENDING; i++) {
            assertThat(link.ask(new Verb.Metrics())).isNotDone();
        }
        assertThat(failure(link.ask(new Verb.Metrics())).kind()).isEqualTo(Kind.OVERLOADED);
    }

    @Test
    void verbsWaitForAFarSideThatDoesNotRead() {
        link.connection.listen(_ -> {});
        PaperWire wire = link.open("boot-1");
        wire.ready = false;
        CompletableFuture<Answer> first = link.ask(new Verb.Metrics());
        CompletableFuture<Answer> withdrawn = link.ask(new Verb.Metrics());
        link.asks(new Verb.ListAll());
        withdrawn.cancel(false);
        link.runCommands();
        assertThat(wire.said()).containsExactly("hello");

        wire.reads();
        assertThat(wire.said()).containsExactly("hello", "metrics", "list");
        wire.says(SupervisorFrames.reply(wire.idOf("metrics"), "{}"));
        assertThat(first).isCompleted();
    }

    @ParameterizedTest
    @FieldSource("RUNS")
    void aRunThatWaitedForTheFarSideToReadWasNotBegun(Verb run) {
        link.connection.listen(_ -> {});
        PaperWire wire = link.open("boot-1");
        wire.ready = false;
        CompletableFuture<Answer> answer = link.ask(run);
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer).kind()).isEqualTo(Kind.UNREACHABLE);
        wire.reads();
        assertThat(wire.said()).containsExactly("hello");
    }

    @Test
    void whatWaitedForABrokenWireIsSentOnTheNextOneOnce() {
        link.connection.listen(_ -> {});
        PaperWire old = link.open("boot-1");
        old.ready = false;
        link.asks(new Verb.Metrics());
        link.dialling.broken(old, "gone");
        link.pass(MOMENT);
        PaperWire wire = link.open("boot-1");
        wire.reads();
        assertThat(wire.said()).containsExactly("hello", "metrics");
    }

    @Test
    void listenersKeepItOpenAndHearEvents() {
        List<LinkEvent> heard = new ArrayList<>();
        link.connection.listen(heard::add);
        PaperWire wire = link.open("boot-1");
        wire.says(SupervisorFrames.event("python/default", 1, "ready"));
        link.dialling.broken(wire, "gone");
        link.pass(MOMENT);
        link.open("boot-1");
        assertThat(heard)
                .containsExactly(
                        new LinkEvent.Opened("boot-1"),
                        new LinkEvent.Kernel("python/default", "ready"),
                        new LinkEvent.Opened("boot-1"));
    }

    /** As hello and the event tell it; a supervisor that says nothing of its network is one from before. */
    @Test
    void anOpenNetworkIsToldEachTimeAndCountedOnceForEachRunOfTheSupervisor() {
        List<LinkEvent> heard = new ArrayList<>();
        link.connection.listen(heard::add);
        PaperWire wire = link.open("boot-1");
        assertThat(link.counters.openNetworks().sum()).isZero();

        wire.says(SupervisorFrames.event("/network", 1, "open"));
        wire.says(SupervisorFrames.event("/network", 2, "open"));
        link.dialling.broken(wire, "gone");
        link.pass(MOMENT);
        link.openReaching("boot-1", "\"192.0.2.1:443\"");

        assertThat(link.counters.openNetworks().sum()).isEqualTo(1);
        assertThat(heard)
                .containsExactly(
                        new LinkEvent.Opened("boot-1"),
                        new LinkEvent.NetworkOpen(),
                        new LinkEvent.NetworkOpen(),
                        new LinkEvent.Opened("boot-1"),
                        new LinkEvent.NetworkOpen());

        link.dialling.broken(link.wire(), "gone");
        link.pass(MOMENT);
        link.openReaching("boot-2", "\"192.0.2.1:443\"");
        assertThat(link.counters.openNetworks().sum()).isEqualTo(2);
    }

    @Test
    void aClosedNetworkIsNoNews() {
        List<LinkEvent> heard = new ArrayList<>();
        link.connection.listen(heard::add);
        link.openReaching("boot-1", "null");
        assertThat(heard).containsExactly(new LinkEvent.Opened("boot-1"));
        assertThat(link.counters.openNetworks().sum()).isZero();
    }

    @Test
    void closesAfterIdlingAndNotBefore() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        PaperWire wire = link.open("boot-1");
        assertThat(link.connection.closeIfIdle(Duration.ZERO)).isFalse();
        wire.says(SupervisorFrames.reply(wire.idOf("metrics"), "{}"));
        assertThat(answer).isCompleted();
        assertThat(link.connection.closeIfIdle(Duration.ofMinutes(5))).isFalse();
        link.pass(Duration.ofMinutes(5));
        assertThat(link.connection.closeIfIdle(Duration.ofMinutes(5))).isTrue();
        assertThat(wire.closed).isTrue();
    }

    static LinkException failure(CompletableFuture<?> future) {
        assertThat(future).isCompletedExceptionally();
        try {
            future.join();
        } catch (CompletionException e) {
            if (LinkException.unwrap(e) instanceof LinkException why) {
                return why;
            }
        }
        throw new AssertionError("failed with something else than a LinkException");
    }
}
