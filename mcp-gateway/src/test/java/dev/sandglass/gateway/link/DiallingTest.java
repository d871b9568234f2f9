package dev.sandglass.gateway.link;

import static dev.sandglass.gateway.link.ConnectionTest.failure;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.FakeLink.PaperWire;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** When a connection dials, what it sends on which wire, and what it says when there is none. */
class DiallingTest {

    private static final Duration MOMENT = Duration.ofMillis(10);

    private final FakeLink link = new FakeLink();

    @Test
    void dialsAtFirstUseAndSendsVerbsAfterHello() {
        assertThat(link.wires).isEmpty();
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        assertThat(link.wire().said()).containsExactly("hello");
        PaperWire wire = link.open("boot-1");
        assertThat(link.connection.isOpen()).isTrue();
        assertThat(wire.said()).containsExactly("hello", "metrics");
        wire.says(SupervisorFrames.reply(wire.idOf("metrics"), "{\"pids\":3}"));
        assertThat(answer.join().json().path("pids").asInt()).isEqualTo(3);
    }

    @Test
    void dialsAgainAndAgainWhileSomebodyWaits() {
        link.asks(new Verb.Metrics());
        for (int i = 1; i < 20; i++) {
            link.dialling.broken(link.wire(), "it refuses connections");
            assertThat(link.wire().closed).isTrue();
            link.pass(MOMENT.minusMillis(1));
            assertThat(link.wires).hasSize(i);
            link.pass(Duration.ofMillis(1));
            assertThat(link.wires).hasSize(i + 1);
        }
    }

    @Test
    void aSynThatWasLostIsNotWaitedFor() {
        link.asks(new Verb.Metrics());
        link.pass(Duration.ofMillis(50));
        link.pass(Duration.ofMillis(1));
        assertThat(link.wires).hasSize(2);
        assertThat(link.wires.getFirst().closed).isTrue();
    }

    /** A loop that was busy finds the timer due and the connection made. */
    @Test
    void aConnectionThatStandsWhenThePatienceEndsIsKept() {
        link.asks(new Verb.Metrics());
        link.pass(Duration.ofMillis(50));
        link.dialling.connected(link.wire());
        link.pass(Duration.ofMillis(100));
        assertThat(link.wires).hasSize(1);
    }

    @Test
    void theFarSideKnowsAConnectionThatComesBackButNotOneWhoseHandshakeWasGivenUp() {
        link.asks(new Verb.Metrics());
        byte[] first = link.dialling.identity();
        link.dialling.broken(link.open("boot-1"), "gone");
        assertThat(link.dialling.identity()).isEqualTo(first);
        link.pass(MOMENT);
        link.dialling.connected(link.wire());
        link.pass(Duration.ofMillis(500));
        assertThat(link.dialling.identity()).isEqualTo(first);
        greet();
        link.pass(Duration.ofSeconds(4));
        assertThat(link.dialling.identity()).isNotEqualTo(first);
    }

    @Test
    void anOpenConnectionThatAnswersNothingIsMadeAnew() {
        link.asks(new Verb.Metrics());
        PaperWire deaf = link.open("boot-1");
        link.pass(FakeLink.TIMEOUT);
        assertThat(deaf.closed).isTrue();
        assertThat(link.connection.isOpen()).isFalse();
    }

    @Test
    void aConnectionThatStaysSilentIsGivenUpSoonAndDialledAgainAtOnce() {
        link.asks(new Verb.Metrics());
        for (Duration patience : List.of(Duration.ofMillis(500), Duration.ofMillis(2_000))) {
            int before = link.wires.size();
            link.dialling.connected(link.wire());
            link.pass(patience.minusMillis(1));
            assertThat(link.wires).hasSize(before);
            link.pass(Duration.ofMillis(1));
            assertThat(link.wires).hasSize(before + 1);
        }
    }

    @Test
    void aSlowHandshakeIsWaitedForLongerEachTime() {
        for (Duration patience : List.of(Duration.ofSeconds(4), Duration.ofSeconds(16))) {
            link.asks(new Verb.Metrics(), patience.multipliedBy(2));
            greet();
            link.pass(patience.minusMillis(1));
            assertThat(link.wire().closed).isFalse();
            int before = link.wires.size();
            link.pass(Duration.ofMillis(1));
            assertThat(link.wires).hasSize(before + 1);
        }
    }

    @Test
    void restsWhenNobodyNeedsItAnyMore() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        link.dialling.broken(link.wire(), "it refuses connections");
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer).kind()).isEqualTo(Kind.UNREACHABLE);
        link.dialling.broken(link.wire(), "it refuses connections");
        int wires = link.wires.size();
        link.pass(Duration.ofMinutes(1));
        assertThat(link.wires).hasSize(wires);
        link.asks(new Verb.Metrics());
        assertThat(link.wires).hasSize(wires + 1);
    }

    @Test
    void timeOutSaysWhatKeptItFromConnecting() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        link.dialling.broken(link.wire(), "it refuses connections");
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer)).hasMessageContaining("within 10.0 s").hasMessageContaining("refuses connections");
    }

    @Test
    void anAttemptThatGoesOnDoesNotHideHowTheHandshakeBeforeItFailed() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        greet();
        link.dialling.broken(link.wire(), "closed by the other side");
        link.pass(MOMENT);
        greet();
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer)).hasMessageContaining("closed by the other side");
    }

    @Test
    void aHandshakeThatGoesOnIsNewsAfterWhatKeptItFromBeginning() {
        link.asks(new Verb.Metrics());
        link.dialling.broken(link.wire(), "it refuses connections");
        link.pass(MOMENT);
        greet();
        assertThat(link.dialling.trouble()).contains("did not finish the handshake");
    }

    private void greet() {
        link.dialling.connected(link.wire());
        link.dialling.greeted(link.wire());
    }

    @Test
    void anotherSandboxAtTheAddressIsRefused() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        PaperWire wire = link.wire();
        wire.says(SupervisorFrames.hello(wire.idOf("hello"), "another", "boot-1"));
        assertThat(failure(answer).kind()).isEqualTo(Kind.INCOMPATIBLE);
        assertThat(wire.closed).isTrue();
    }

    @Test
    void anotherProtocolIsRefused() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        PaperWire wire = link.wire();
        wire.says(SupervisorFrames.refusal(wire.idOf("hello"), "unsupported_version", "speaks 2 only"));
        assertThat(failure(answer)).hasMessageContaining("speaks 2 only");
        link.pass(Duration.ofSeconds(1));
        assertThat(link.wires).hasSize(1);
    }

    @Test
    void beforeTheAnswerToHelloNothingElseCounts() {
        List<LinkEvent> heard = new ArrayList<>();
        link.connection.listen(heard::add);
        link.wire().says(SupervisorFrames.event("python/default", 1, "died"));
        link.wire().says(SupervisorFrames.reply("r0", "{}"));
        link.wire().says(List.of(SupervisorFrames.bytes("?")));
        assertThat(heard).isEmpty();
        assertThat(link.counters.stray().sum()).isEqualTo(2);
        assertThat(link.counters.malformed().sum()).isEqualTo(1);
        assertThat(link.wire().closed).isFalse();
        link.open("boot-1");
        assertThat(heard).containsExactly(new LinkEvent.Opened("boot-1"));
    }
}
