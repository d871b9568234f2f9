package dev.sandglass.gateway.link;

import static dev.sandglass.gateway.link.ConnectionTest.failure;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.EnvRules;
import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.link.FakeLink.PaperWire;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkException.Kind;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.sandbox.SeatConfiguration;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What is said to a seat before its connection counts as open, and which answers make it unusable. */
class SeatGreetingTest {

    private static final String OURS = "\"uid-1\"";
    private static final String NOBODY = "null";
    private static final Duration PATIENCE = Duration.ofSeconds(4);

    private final FakeLink link = new FakeLink(FakeLink.IN_SEAT);

    private CompletableFuture<Answer> ask(Map<String, String> env) {
        knows(env);
        return link.ask(new Verb.Metrics());
    }

    private void asks(Map<String, String> env) {
        knows(env);
        link.asks(new Verb.Metrics());
    }

    private void knows(Map<String, String> env) {
        link.configuration = Optional.of(new SeatConfiguration(env, Optional.empty()));
    }

    /** What the last verb of that name says. */
    private static JsonNode said(PaperWire wire, String verb) {
        return wire.sent.stream()
                .map(frames -> JsonMapper.shared().readTree(frames[2]))
                .filter(json -> json.path("verb").asString("").equals(verb))
                .reduce((_, last) -> last)
                .orElseThrow();
    }

    @Test
    void aSeatThatServesNobodyIsConfiguredBeforeAnythingElseIsAskedOfIt() {
        CompletableFuture<Answer> answer = ask(Map.of("A", "b"));
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        assertThat(wire.said()).containsExactly("hello", "configure");
        assertThat(said(wire, "configure")).isEqualTo(JsonMapper.shared().readTree("""
                {"verb":"configure","sandbox_uid":"uid-1","incarnation":1,"env":{"A":"b"}}"""));
        assertThat(link.connection.isOpen()).isFalse();
        wire.says(SupervisorFrames.reply(wire.idOf("configure"), "{}"));
        assertThat(link.connection.isOpen()).isTrue();
        assertThat(wire.said()).containsExactly("hello", "configure", "metrics");
        wire.says(SupervisorFrames.reply(wire.idOf("metrics"), "{\"pids\":3}"));
        assertThat(answer.join().json().path("pids").asInt()).isEqualTo(3);
    }

    @Test
    void whatWasLostBeforeIsPassedOn() {
        link.configuration = Optional.of(new SeatConfiguration(Map.of(), Optional.of("Evicted")));
        link.asks(new Verb.Metrics());
        assertThat(said(link.greetSeat("boot-1", NOBODY), "configure")
                        .path("lost")
                        .asString())
                .isEqualTo("Evicted");
    }

    @Test
    void aSeatThatServesTheSandboxAlreadyIsNotToldItsEnvironmentAgain() {
        asks(Map.of("TOKEN", "secret"));
        PaperWire wire = link.greetSeat("boot-1", OURS);
        assertThat(link.connection.isOpen()).isTrue();
        assertThat(wire.said()).containsExactly("hello", "metrics");
    }

    @Test
    void aContainerThatRestartedIsConfiguredAgainWithWhatIsWantedThen() {
        asks(Map.of("A", "before"));
        PaperWire before = link.greetSeat("boot-1", NOBODY);
        before.says(SupervisorFrames.reply(before.idOf("configure"), "{}"));
        knows(Map.of("A", "after"));
        link.dialling.broken(before, "closed by the other side");
        link.pass(Duration.ofMillis(10));
        PaperWire after = link.greetSeat("boot-2", NOBODY);
        assertThat(said(after, "configure").path("env").path("A").asString()).isEqualTo("after");
        after.says(SupervisorFrames.reply(after.idOf("configure"), "{}"));
        assertThat(link.connection.isOpen()).isTrue();
    }

    @Test
    void ofTwoGatewaysTheFirstCounts() {
        asks(Map.of("A", "newer"));
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        wire.says(SupervisorFrames.refusal(wire.idOf("configure"), "already_configured", "uid-1"));
        assertThat(link.connection.isOpen()).isFalse();
        assertThat(wire.said()).containsExactly("hello", "configure", "hello");
        wire.says(SupervisorFrames.seatHello(wire.idOf("hello"), FakeLink.SEAT, "boot-1", OURS));
        assertThat(link.connection.isOpen()).isTrue();
        assertThat(wire.said()).containsExactly("hello", "configure", "hello", "metrics");
    }

    @Test
    void aSeatThatAnotherSandboxHadMeanwhileIsUnusable() {
        CompletableFuture<Answer> answer = ask(Map.of());
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        wire.says(SupervisorFrames.refusal(wire.idOf("configure"), "already_configured", "uid-2"));
        wire.says(SupervisorFrames.seatHello(wire.idOf("hello"), FakeLink.SEAT, "boot-1", "\"uid-2\""));
        assertUnusable(answer, wire, "its pod serves another sandbox");
    }

    /** Else a seat would count as ours before it says whose it is. */
    @Test
    void anAnswerWithoutAnIdAnswersNeitherQuestion() {
        asks(Map.of());
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        wire.says(SupervisorFrames.seatHello("", FakeLink.SEAT, "boot-1", OURS));
        assertThat(link.connection.isOpen()).as("while configure is asked").isFalse();
        wire.says(SupervisorFrames.refusal(wire.idOf("configure"), "already_configured", "uid-1"));
        wire.says(SupervisorFrames.reply("", "{}"));
        assertThat(link.connection.isOpen()).as("while hello is asked").isFalse();
        wire.says(SupervisorFrames.seatHello(wire.idOf("hello"), FakeLink.SEAT, "boot-1", OURS));
        assertThat(link.connection.isOpen()).as("control: with its id").isTrue();
    }

    /** Else it would make the gateway say hello for ever. */
    @Test
    void aSeatThatIsConfiguredAndIsNotIsUnusable() {
        CompletableFuture<Answer> answer = ask(Map.of());
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        wire.says(SupervisorFrames.refusal(wire.idOf("configure"), "already_configured", "by nobody"));
        wire.says(SupervisorFrames.seatHello(wire.idOf("hello"), FakeLink.SEAT, "boot-1", NOBODY));
        assertUnusable(answer, wire, "refuses to be configured, and says that it is not");
        assertThat(wire.said()).containsExactly("hello", "configure", "hello");
    }

    @Test
    void aSeatOfAnotherSandboxIsNotConfigured() {
        CompletableFuture<Answer> answer = ask(Map.of("TOKEN", "secret"));
        PaperWire wire = link.greetSeat("boot-1", "\"uid-2\"");
        assertUnusable(answer, wire, "its pod serves another sandbox");
        assertThat(wire.said()).containsExactly("hello");
    }

    @Test
    void anotherSeatAtTheAddressIsNotConfigured() {
        CompletableFuture<Answer> answer = ask(Map.of("TOKEN", "secret"));
        PaperWire wire = link.wire();
        String other = FakeLink.SEAT.replace('1', '2');
        wire.says(SupervisorFrames.seatHello(wire.idOf("hello"), other, "boot-1", NOBODY));
        assertUnusable(answer, wire, "another sandbox answers at its address");
        assertThat(wire.said()).containsExactly("hello");
    }

    /** One in an image of its own may be of an earlier version, which would run code without its variables. */
    @Test
    void aSupervisorThatKnowsNoSeatsIsUnusable() {
        CompletableFuture<Answer> answer = ask(Map.of());
        PaperWire wire = link.wire();
        wire.says(SupervisorFrames.hello(wire.idOf("hello"), FakeLink.SEAT, "boot-1"));
        assertUnusable(answer, wire, "Build the sandbox's image anew");
    }

    @ParameterizedTest
    @ValueSource(strings = {"7", "true", "{}", "[\"uid-1\"]"})
    void whatIsNoUidIsNone(String configuredFor) {
        CompletableFuture<Answer> answer = ask(Map.of());
        assertUnusable(answer, link.greetSeat("boot-1", configuredFor), "cannot be a seat of a pool");
    }

    @Test
    void aPodThatIsNoSeatMustNotSayThatItIsOne() {
        FakeLink alone = new FakeLink();
        CompletableFuture<Answer> answer = alone.ask(new Verb.Metrics());
        PaperWire wire = alone.wire();
        wire.says(SupervisorFrames.seatHello(wire.idOf("hello"), "uid-1", "boot-1", NOBODY));
        assertUnusable(answer, wire, "the sandbox is in none");
        assertThat(wire.said()).containsExactly("hello");
    }

    @Test
    void aRefusalOfTheConfigurationSaysWhy() {
        CompletableFuture<Answer> answer = ask(Map.of());
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        wire.says(SupervisorFrames.refusal(wire.idOf("configure"), "bad_request", "lost: must be a word"));
        assertUnusable(answer, wire, "it refused to be configured (bad_request: lost: must be a word)");
    }

    @Test
    void aConfigurationWithoutAnswerIsTriedOnAnotherWire() {
        CompletableFuture<Answer> answer = ask(Map.of());
        byte[] identity = link.dialling.identity();
        PaperWire silent = link.greetSeat("boot-1", NOBODY);
        link.pass(PATIENCE.minusMillis(1));
        assertThat(silent.closed).isFalse();
        link.pass(Duration.ofMillis(1));
        assertThat(silent.closed).isTrue();
        assertThat(link.dialling.trouble()).isEqualTo("no answer to configure");
        assertThat(link.dialling.identity()).isNotEqualTo(identity);
        assertThat(link.wires).hasSize(2);
        link.pass(FakeLink.TIMEOUT);
        assertThat(failure(answer).kind()).isEqualTo(Kind.UNREACHABLE);
    }

    @Test
    void aConfigurationThatIsNotKnownYetIsWaitedFor() {
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        PaperWire early = link.greetSeat("boot-1", NOBODY);
        assertThat(early.closed).isTrue();
        assertThat(early.said()).containsExactly("hello");
        assertThat(link.dialling.trouble()).contains("not known here yet");
        knows(Map.of("A", "b"));
        link.pass(Duration.ofMillis(10));
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        wire.says(SupervisorFrames.reply(wire.idOf("configure"), "{}"));
        assertThat(link.connection.isOpen()).isTrue();
        assertThat(answer).isNotDone();
    }

    @Test
    void answersToWhatWasNotAskedDoNotOpenAnything() {
        asks(Map.of());
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        String hello = wire.idOf("hello");
        wire.says(SupervisorFrames.seatHello(hello, FakeLink.SEAT, "boot-1", OURS));
        wire.says(SupervisorFrames.reply("r99", "{}"));
        wire.says(SupervisorFrames.event("python/default", 1, "ready"));
        wire.says(SupervisorFrames.content(wire.idOf("configure"), 9 * 1024 * 1024));
        assertThat(link.connection.isOpen()).isFalse();
        assertThat(link.counters.stray().sum()).isEqualTo(3);
        assertThat(link.counters.malformed().sum()).isEqualTo(1);
        wire.says(SupervisorFrames.content(wire.idOf("configure"), 8 * 1024 * 1024));
        assertThat(link.connection.isOpen()).isTrue();
    }

    @Test
    void theLargestEnvironmentIsSentAndALargerOneIsRefusedByTheNameOfItsField() {
        String longest = "\u0001".repeat(EnvRules.MAX_BYTES - 1);
        asks(Map.of("A", longest));
        assertThat(said(link.greetSeat("boot-1", NOBODY), "configure")
                        .path("env")
                        .path("A")
                        .asString())
                .isEqualTo(longest);
        FakeLink other = new FakeLink(FakeLink.IN_SEAT);
        other.configuration = Optional.of(new SeatConfiguration(Map.of("A", longest + "b"), Optional.empty()));
        CompletableFuture<Answer> answer = other.ask(new Verb.Metrics());
        PaperWire wire = other.greetSeat("boot-1", NOBODY);
        assertUnusable(answer, wire, "spec.env: environment variables may have 32768 bytes in all");
        assertThat(wire.said()).containsExactly("hello");
    }

    @Test
    void halfACharacterInAValueIsTheSupervisorsToRefuse() {
        asks(Map.of("A", "b\ud800"));
        assertThat(link.greetSeat("boot-1", NOBODY).said()).containsExactly("hello", "configure");
    }

    @Test
    void aWordThatIsLongerThanAnyVerbIsNotSent() {
        link.configuration = Optional.of(new SeatConfiguration(Map.of(), Optional.of("x".repeat(256 * 1024))));
        CompletableFuture<Answer> answer = link.ask(new Verb.Metrics());
        PaperWire wire = link.greetSeat("boot-1", NOBODY);
        assertThat(failure(answer)).hasMessageContaining("at most 262144 are allowed");
        assertThat(wire.said()).containsExactly("hello");
        assertThat(wire.closed).isTrue();
    }

    @Test
    void nothingShowsTheVariables() {
        Map<String, String> env = Map.of("TOKEN", "s3cret");
        assertThat(new SeatConfiguration(env, Optional.empty()).toString()).doesNotContain("s3cret", "TOKEN");
        assertThat(new Verb.Configure("uid-1", 1, env, null).toString()).doesNotContain("s3cret", "TOKEN");
    }

    private static void assertUnusable(CompletableFuture<Answer> answer, PaperWire wire, String why) {
        LinkException failure = failure(answer);
        assertThat(failure.kind()).isEqualTo(Kind.INCOMPATIBLE);
        assertThat(failure)
                .hasMessageStartingWith("The sandbox's supervisor cannot be used: ")
                .hasMessageContaining(why);
        assertThat(wire.closed).isTrue();
    }

    @Test
    void itsKeysAreTheSeatsOfWhicheverSandbox() {
        var secret = new LinkSecret("a link secret of at least 32 bytes".getBytes(StandardCharsets.US_ASCII));
        var before = new LinkSecret("a link secret of at least 32 bytes, older".getBytes(StandardCharsets.US_ASCII));
        var attempts = new LinkSecrets(secret, Optional.of(before)).attempts(FakeLink.IN_SEAT);
        assertThat(List.of(attempts.next(), attempts.next(), attempts.next()))
                .containsExactly(
                        LinkKeys.derive(secret, FakeLink.SEAT, 0),
                        LinkKeys.derive(before, FakeLink.SEAT, 0),
                        LinkKeys.derive(secret, FakeLink.SEAT, 0));
    }
}
