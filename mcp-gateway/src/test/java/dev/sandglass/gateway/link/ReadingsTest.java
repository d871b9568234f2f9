package dev.sandglass.gateway.link;

import static dev.sandglass.gateway.link.ConnectionTest.failure;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.FakeLink.PaperWire;
import dev.sandglass.gateway.link.FakeLink.Reader;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Readings: order, acknowledgement, broken connections, restarted supervisors. */
class ReadingsTest {

    private static final Duration MOMENT = Duration.ofMillis(10);
    private static final int QUARTER = 64 * 1024;

    private final FakeLink link = new FakeLink();
    private final Reader reader = new Reader();

    @Test
    void recordsComeInOrderUntilTheOutcome() {
        PaperWire wire = follow();
        // Before any record, and whatever the future's caller is at.
        assertThat(reader.answers).hasSize(1);
        wire.says(SupervisorFrames.stdout("x", 0, "a"));
        wire.says(SupervisorFrames.stdout("x", 1, "b"));
        wire.says(SupervisorFrames.outcome("x", 2, "ok"));
        wire.says(SupervisorFrames.stdout("x", 2, "after the end"));
        assertThat(reader.records).extracting(OutputRecord::offset).containsExactly(0L, 1L, 2L);
        assertThat(link.counters.stray().sum()).isEqualTo(1);
    }

    @Test
    void acknowledgesAtAQuarterOfTheWindowAtOnce() {
        PaperWire wire = follow();
        wire.says(SupervisorFrames.stdout("x", 0, "y".repeat(QUARTER)));
        assertThat(wire.said()).endsWith("credit x " + QUARTER);
    }

    @Test
    void acknowledgesLittleAfterAMoment() {
        PaperWire wire = follow();
        wire.says(SupervisorFrames.stdout("x", 0, "y"));
        assertThat(wire.said()).noneMatch(said -> said.startsWith("credit"));
        link.pass(MOMENT);
        assertThat(wire.said()).endsWith("credit x 1");
        int said = wire.sent.size();
        link.pass(MOMENT);
        assertThat(wire.sent).hasSize(said);
    }

    @Test
    void nothingIsAcknowledgedBeforeItIsConsumed() {
        reader.slow = true;
        PaperWire wire = follow();
        wire.says(SupervisorFrames.stdout("x", 0, "y".repeat(QUARTER)));
        wire.says(SupervisorFrames.stdout("x", QUARTER, "z".repeat(QUARTER)));
        link.pass(Duration.ofSeconds(1));
        assertThat(wire.said()).noneMatch(said -> said.startsWith("credit"));
        // The second one first: what comes before it is not consumed yet.
        reader.open.get(1).complete(null);
        link.runCommands();
        assertThat(wire.said()).noneMatch(said -> said.startsWith("credit"));
        reader.open.get(0).complete(null);
        link.runCommands();
        assertThat(wire.said()).endsWith("credit x " + 2 * QUARTER);
    }

    /** An honest one waits for the acknowledgements that a reader who takes nothing holds back. */
    @Test
    void aSupervisorThatSendsAheadOfItsWindowIsReadNoMore() {
        reader.slow = true;
        PaperWire wire = follow();
        for (int i = 0; i < 1000; i++) {
            wire.says(SupervisorFrames.stdout("x", (long) i * QUARTER, "y".repeat(QUARTER)));
        }
        assertThat(reader.records).hasSize(15);
        assertThat(reader.losses).hasSize(1);
        assertThat(wire.said()).filteredOn("detach"::equals).hasSize(1);
    }

    @Test
    void norMoreByBreakingTheConnectionAgainAndAgain() {
        reader.slow = true;
        PaperWire wire = follow();
        long offset = 0;
        for (int i = 0; i < 10 && reader.losses.isEmpty(); i++) {
            for (int quarter = 0; quarter < 3 && reader.losses.isEmpty(); quarter++, offset += QUARTER) {
                wire.says(SupervisorFrames.stdout("x", offset, "y".repeat(QUARTER)));
            }
            if (reader.losses.isEmpty()) {
                link.dialling.broken(wire, "gone");
                link.pass(MOMENT);
                wire = link.open("boot-1");
                wire.says(SupervisorFrames.reply(wire.idOf("attach"), "{}"));
            }
        }
        assertThat(reader.losses).hasSize(1);
        assertThat(reader.records).hasSize(15);
    }

    @Test
    void emptyRecordsAreBoundedToo() {
        reader.slow = true;
        PaperWire wire = follow();
        for (int i = 0; i < 100_000; i++) {
            wire.says(SupervisorFrames.stdout("x", 0, ""));
        }
        assertThat(reader.records).hasSize(4 * 262144 / CreditWindow.RECORD_COST);
    }

    @Test
    void aRecordLargerThanTheWindowIsReadWhenNothingElseIsUnderWay() {
        PaperWire wire = follow();
        wire.says(SupervisorFrames.stdout("x", 0, "y".repeat(3 * 1024 * 1024)));
        wire.says(SupervisorFrames.stdout("x", 3 * 1024 * 1024, "y".repeat(3 * 1024 * 1024)));
        assertThat(reader.records).hasSize(2);
        assertThat(reader.losses).isEmpty();
    }

    @Test
    void aStageThatFailsCountsAsConsumed() {
        reader.slow = true;
        PaperWire wire = follow();
        wire.says(SupervisorFrames.stdout("x", 0, "y".repeat(QUARTER)));
        reader.open.getFirst().completeExceptionally(new IllegalStateException("client gone"));
        link.runCommands();
        assertThat(wire.said()).endsWith("credit x " + QUARTER);
    }

    @Test
    void aReaderThatThrowsHarmsNobodyElse() {
        Reader other = new Reader();
        follow();
        OutputReader broken = new OutputReader() {
            @Override
            public void begun(Answer answer) {
                throw new IllegalStateException("a fault");
            }

            @Override
            public CompletableFuture<Void> record(OutputRecord record) {
                throw new IllegalStateException("a fault");
            }

            @Override
            public void lost(LinkException why) {
                throw new IllegalStateException("a fault");
            }
        };
        followToo("bad", broken);
        followToo("good", other);
        link.wire().says(SupervisorFrames.stdout("bad", 0, "a"));
        link.wire().says(SupervisorFrames.stdout("good", 0, "a"));
        assertThat(other.records).hasSize(1);
        link.connection.shutDown(new LinkException(Kind.CLOSED, "end"));
        assertThat(other.losses).hasSize(1);
    }

    @Test
    void goesOnAtItsPositionAfterABreak() {
        PaperWire wire = follow();
        wire.says(SupervisorFrames.stdout("x", 0, "abc"));
        link.dialling.broken(wire, "gone");
        link.pass(MOMENT);
        PaperWire next = link.open("boot-1");
        assertThat(next.said()).containsExactly("hello", "attach 3");
        next.says(SupervisorFrames.stdout("x", 3, "leftover of nothing: not attached yet"));
        next.says(SupervisorFrames.reply(next.idOf("attach"), "{\"state\":\"running\"}"));
        next.says(SupervisorFrames.stdout("x", 3, "d"));
        assertThat(reader.records).extracting(OutputRecord::end).containsExactly(3L, 4L);
        assertThat(reader.losses).isEmpty();
    }

    @Test
    void asksForTheRestOnceEvenIfItBreaksAgain() {
        PaperWire wire = follow();
        link.dialling.broken(wire, "gone");
        link.pass(MOMENT);
        link.dialling.broken(link.open("boot-1"), "gone again");
        link.pass(MOMENT);
        assertThat(link.open("boot-1").said()).containsExactly("hello", "attach 0");
    }

    @Test
    void asksForTheRestAgainIfNobodyAnsweredInTime() {
        PaperWire wire = follow();
        link.dialling.broken(wire, "gone");
        link.pass(MOMENT);
        link.dialling.broken(link.open("boot-1"), "gone again");
        // Longer than the question for the rest waits for its answer.
        link.pass(Duration.ofSeconds(31));
        PaperWire next = link.open("boot-1");
        assertThat(next.said()).containsExactly("hello", "attach 0");
        next.says(SupervisorFrames.reply(next.idOf("attach"), "{}"));
        next.says(SupervisorFrames.stdout("x", 0, "a"));
        assertThat(reader.records).hasSize(1);
        assertThat(reader.losses).isEmpty();
    }

    @Test
    void anOutcomeFromBeforeABreakDoesNotEndTheReadingAfterIt() {
        PaperWire wire = follow();
        link.dialling.broken(wire, "gone");
        link.pass(MOMENT);
        PaperWire next = link.open("boot-1");
        // The supervisor knows us by the same identity, and sends what it has before it gets our question for the rest.
        next.says(SupervisorFrames.outcome("x", 3, "ok"));
        assertThat(reader.records).isEmpty();
        next.says(SupervisorFrames.reply(next.idOf("attach"), "{}"));
        next.says(SupervisorFrames.stdout("x", 0, "abc"));
        next.says(SupervisorFrames.outcome("x", 3, "ok"));
        assertThat(reader.records).extracting(OutputRecord::end).containsExactly(3L, 3L);
        assertThat(link.connection.follows("x")).isFalse();
    }

    @Test
    void aRestartedSupervisorLosesReadings() {
        PaperWire wire = follow();
        link.dialling.broken(wire, "gone");
        link.pass(MOMENT);
        assertThat(link.open("boot-2").said()).containsExactly("hello");
        assertThat(reader.losses).extracting(LinkException::kind).containsExactly(Kind.RESTARTED);
    }

    @Test
    void anExecutionThatTheSupervisorForgotIsLost() {
        PaperWire wire = follow();
        link.dialling.broken(wire, "gone");
        link.pass(MOMENT);
        PaperWire next = link.open("boot-1");
        next.says(SupervisorFrames.refusal(next.idOf("attach"), "unknown_execution", "not known"));
        assertThat(reader.losses).extracting(LinkException::code).containsExactly("unknown_execution");
        assertThat(link.connection.follows("x")).isFalse();
    }

    @Test
    void whatWasSentAndNotAnsweredIsSentAgainToTheSameSupervisor() {
        CompletableFuture<Answer> answer = link.follow(code("x"), reader);
        link.dialling.broken(link.open("boot-1"), "gone");
        link.pass(MOMENT);
        PaperWire next = link.open("boot-1");
        assertThat(next.said()).containsExactly("hello", "execute");
        next.says(SupervisorFrames.reply(next.idOf("execute"), "{}"));
        assertThat(answer).isCompleted();
    }

    @Test
    void whatMayHaveRunIsNotSentToARestartedSupervisor() {
        CompletableFuture<Answer> execute = link.follow(code("x"), reader);
        CompletableFuture<Answer> metrics = link.ask(new Verb.Metrics());
        link.dialling.broken(link.open("boot-1"), "gone");
        link.pass(MOMENT);
        assertThat(link.open("boot-2").said()).containsExactly("hello", "metrics");
        assertThat(failure(execute).kind()).isEqualTo(Kind.RESTARTED);
        assertThat(metrics).isNotDone();
    }

    @Test
    void leftoversOfAnEarlierReadingAreDropped() {
        PaperWire wire = follow();
        link.connection.unfollow(reader);
        assertThat(wire.said()).endsWith("detach");
        Reader second = new Reader();
        link.follows(new Verb.Attach("x", 100), second);
        wire.says(SupervisorFrames.stdout("x", 5, "leftover"));
        wire.says(SupervisorFrames.reply(wire.idOf("attach"), "{}"));
        wire.says(SupervisorFrames.stdout("x", 100, "right"));
        assertThat(second.records).extracting(OutputRecord::offset).containsExactly(100L);
        assertThat(reader.records).isEmpty();
    }

    @Test
    void outputThatNobodyReadsIsDismissedOnce() {
        PaperWire wire = follow();
        wire.says(SupervisorFrames.stdout("forgotten", 0, "a"));
        wire.says(SupervisorFrames.stdout("forgotten", 1, "b"));
        assertThat(wire.said()).containsExactly("hello", "execute", "detach");
        wire.says(SupervisorFrames.reply(wire.idOf("detach"), "{}"));
        assertThat(link.counters.stray().sum()).isEqualTo(2);
    }

    @Test
    void aReadingThatIsGivenUpBeforeItsAnswerIsWithdrawn() {
        link.follows(code("x"), reader);
        PaperWire wire = link.open("boot-1");
        link.connection.unfollow(reader);
        assertThat(wire.said()).containsExactly("hello", "execute", "detach");
        assertThat(link.connection.follows("x")).isFalse();
    }

    @Test
    void closingFailsWhatIsUnderWay() {
        follow();
        CompletableFuture<Answer> metrics = link.ask(new Verb.Metrics());
        link.connection.shutDown(new LinkException(Kind.CLOSED, "end"));
        assertThat(failure(metrics).kind()).isEqualTo(Kind.CLOSED);
        assertThat(reader.losses).extracting(LinkException::kind).containsExactly(Kind.CLOSED);
    }

    private PaperWire follow() {
        link.follows(code("x"), reader);
        PaperWire wire = link.open("boot-1");
        wire.says(SupervisorFrames.reply(wire.idOf("execute"), "{\"state\":\"running\",\"position\":0}"));
        return wire;
    }

    private void followToo(String id, OutputReader another) {
        link.follows(code(id), another);
        link.wire().says(SupervisorFrames.reply(link.wire().idOf("execute"), "{}"));
    }

    private static Verb.Execute code(String id) {
        return new Verb.Execute(id, "python", "default", null, Blob.utf8("1"), Map.of(), FakeLink.TIMEOUT, true);
    }
}
