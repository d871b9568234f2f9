package dev.sandglass.gateway.link;

import static dev.sandglass.gateway.link.frame.SupervisorFrames.call;
import static dev.sandglass.gateway.link.frame.SupervisorFrames.withdrawal;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.FakeLink.PaperWire;
import dev.sandglass.gateway.link.call.PodAnswer;
import dev.sandglass.gateway.link.call.PodCall;
import dev.sandglass.gateway.link.call.UnansweredCalls;
import dev.sandglass.gateway.link.frame.Answer;
import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.LinkException;
import dev.sandglass.gateway.link.frame.LinkFrames;
import dev.sandglass.gateway.link.frame.SupervisorFrames;
import dev.sandglass.gateway.link.frame.Verb;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Calls that come from a pod: answered once, by the wire on which they came, and given up with it. */
class PodCallsTest {

    private static final JsonMapper JSON = JsonMapper.shared();

    private final FakeLink link = new FakeLink();

    private PaperWire open() {
        link.asks(new Verb.Metrics());
        return link.open("b00t");
    }

    private static PodAnswer answer(String text) {
        return answer(text, () -> {});
    }

    private static PodAnswer answer(String text, Runnable gone) {
        return new PodAnswer(new Answer(JSON.createObjectNode().put("text", text), Blob.EMPTY), gone);
    }

    private static List<String> returned(PaperWire wire) {
        return wire.said().stream().filter(said -> said.startsWith("returned")).toList();
    }

    @Test
    void helloNamesTheKindsThatAreAnswered() {
        PaperWire wire = open();
        String hello = new String(wire.sent.getFirst()[2], StandardCharsets.UTF_8);
        assertThat(JSON.readTree(hello).path("calls").toString()).isEqualTo("[\"fault\",\"tool\"]");
        assertThat(JSON.readTree(LinkFrames.verb("r1", new Verb.Hello("gw", java.util.Set.of()))[2])
                        .has("calls"))
                .isFalse();
    }

    @Test
    void aCallIsAnsweredWithWhatItAskedFor() {
        PaperWire wire = open();
        wire.says(call("1f", "tool"));
        assertThat(link.calls.came).hasSize(1);
        PodCall came = link.calls.came.getFirst();
        assertThat(came.sandboxUid()).isEqualTo(FakeLink.TARGET.sandboxUid());
        assertThat(came.incarnation()).isEqualTo(FakeLink.TARGET.incarnation());
        assertThat(came.executionId()).isEqualTo("e-1");
        assertThat(came.arguments().path("name").asString()).isEqualTo("é");
        link.calls.answers.getFirst().complete(answer("hi"));
        assertThat(returned(wire)).isEmpty();
        link.runCommands();
        assertThat(returned(wire)).containsExactly("returned 1f {\"text\":\"hi\"}");
    }

    @Test
    void aKindThatIsNotAnsweredIsRefusedByItsName() {
        PaperWire wire = open();
        wire.says(call("1", "unheard_of"));
        link.runCommands();
        assertThat(returned(wire)).singleElement().asString().contains("unknown_kind", "'unheard_of'");
        assertThat(link.calls.came).isEmpty();
    }

    @Test
    void whatIsUnderWayIsAnsweredBeforeADrainEndsAndNothingElseIsTaken() {
        PaperWire wire = open();
        wire.says(call("1", "tool"));
        CompletableFuture<Void> drained = link.drainable.drain();
        wire.says(call("2", "tool"));
        link.runCommands();
        assertThat(link.calls.came).hasSize(1);
        assertThat(returned(wire)).singleElement().asString().contains("returned 2", "unknown_kind", "'tool'");
        link.calls.answers.getFirst().complete(answer("hi"));
        assertThat(drained).as("the answer is not sent yet").isNotDone();
        link.runCommands();
        assertThat(returned(wire)).last().asString().isEqualTo("returned 1 {\"text\":\"hi\"}");
        assertThat(drained).isCompleted();
    }

    @Test
    void aDrainWaitsForNoCallThatFailedOrWasGivenUp() {
        PaperWire wire = open();
        wire.says(call("1", "tool"));
        wire.says(call("2", "tool"));
        wire.says(call("3", "tool"));
        wire.says(call("4", "fault"));
        CompletableFuture<Void> drained = link.drainable.drain();
        wire.says(withdrawal("1"));
        link.calls
                .answers
                .get(1)
                .completeExceptionally(new LinkException(LinkException.Kind.REFUSED, "failed", "it failed"));
        link.runCommands();
        assertThat(link.calls.answers.getFirst()).isCancelled();
        assertThat(drained).isNotDone();
        link.dialling.broken(wire, "cut");
        assertThat(link.calls.answers.get(2)).isCancelled();
        assertThat(drained).isCompleted();
    }

    @Test
    void aConnectionThatOpensDuringADrainOffersNoKind() {
        var _ = link.drainable.drain();
        String hello = new String(open().sent.getFirst()[2], StandardCharsets.UTF_8);
        assertThat(JSON.readTree(hello).has("calls")).isFalse();
        assertThat(link.drainable.drain()).isCompleted();
    }

    @Test
    void aRefusalHasItsCodeAndAFaultTellsNothing() {
        PaperWire wire = open();
        wire.says(call("1", "tool"));
        wire.says(call("2", "tool"));
        wire.says(call("3", "fault"));
        link.calls
                .answers
                .get(0)
                .completeExceptionally(
                        new LinkException(LinkException.Kind.REFUSED, "not_allowed", "the rules forbid it"));
        link.calls.answers.get(1).completeExceptionally(new IllegalStateException("a secret of the gateway"));
        link.runCommands();
        assertThat(returned(wire))
                .hasSize(3)
                .anySatisfy(said -> assertThat(said).contains("returned 1", "not_allowed", "the rules forbid it"))
                .anySatisfy(said -> assertThat(said).contains("returned 2", "internal"))
                .anySatisfy(said -> assertThat(said).contains("returned 3", "internal"))
                .noneSatisfy(said -> assertThat(said).contains("secret"));
    }

    @Test
    void anAnswerThatIsTooLargeForTheSupervisorIsAProblem() {
        PaperWire wire = open();
        int most = 256 * 1024 - "{\"text\":\"\"}".length();
        for (int more = 0; more <= 1; more++) {
            wire.says(call("c" + more, "tool"));
            link.calls.answers.getLast().complete(answer("x".repeat(most + more)));
        }
        link.runCommands();
        assertThat(returned(wire).get(0)).startsWith("returned c0 {\"text\":\"xxx");
        assertThat(returned(wire).get(1)).contains("returned c1", "too_large");
    }

    @Test
    void whatIsWithdrawnIsGivenUp() {
        PaperWire wire = open();
        wire.says(call("1", "tool"));
        wire.says(withdrawal("1"));
        wire.says(withdrawal("1"));
        CompletableFuture<PodAnswer> given = link.calls.answers.getFirst();
        assertThat(given).isCancelled();
        link.runCommands();
        assertThat(returned(wire)).isEmpty();
        assertThat(link.counters.stray().sum()).isEqualTo(1);
    }

    @Test
    void callsAreGivenUpWithTheirWireAndTheNextOneBeginsAnew() {
        PaperWire wire = open();
        link.connection.listen(_ -> {});
        wire.says(call("1", "tool"));
        wire.says(call("2", "tool"));
        link.calls.answers.getFirst().complete(answer("too late"));
        link.dialling.broken(wire, "cut");
        assertThat(link.calls.answers.get(1)).isCancelled();
        link.pass(java.time.Duration.ofSeconds(5));
        PaperWire next = link.open("b00t");
        next.says(call("1", "tool"));
        link.calls.answers.getLast().complete(answer("in time"));
        link.runCommands();
        assertThat(returned(next)).containsExactly("returned 1 {\"text\":\"in time\"}");
        assertThat(returned(wire)).isEmpty();
    }

    @Test
    void theSameIdTwiceIsStray() {
        PaperWire wire = open();
        wire.says(call("1", "tool"));
        wire.says(call("1", "tool"));
        assertThat(link.calls.came).hasSize(1);
        assertThat(link.counters.stray().sum()).isEqualTo(1);
    }

    @Test
    void callsUnderWayAreBounded() {
        PaperWire wire = open();
        for (int i = 0; i <= UnansweredCalls.MOST; i++) {
            wire.says(call("c" + i, "tool"));
        }
        assertThat(link.calls.came).hasSize(UnansweredCalls.MOST);
        assertThat(returned(wire)).singleElement().asString().contains("c" + UnansweredCalls.MOST, "too_many_calls");
    }

    @Test
    void aPodThatDoesNotReadGetsItsAnswersLaterAndTheyAreHeldUntilThen() {
        PaperWire wire = open();
        wire.says(call("1", "tool"));
        wire.says(call("2", "tool"));
        var gone = new ArrayList<String>();
        wire.ready = false;
        link.calls.answers.get(0).complete(answer("one", () -> gone.add("one")));
        link.calls.answers.get(1).complete(answer("two", () -> gone.add("two")));
        link.runCommands();
        assertThat(returned(wire)).isEmpty();
        assertThat(gone).isEmpty();
        wire.reads();
        assertThat(returned(wire)).containsExactly("returned 1 {\"text\":\"one\"}", "returned 2 {\"text\":\"two\"}");
        assertThat(gone).containsExactly("one", "two");
    }

    @Test
    void answersThatAreNotReadCountAsCallsUnderWay() {
        PaperWire wire = open();
        wire.ready = false;
        for (int i = 0; i <= UnansweredCalls.MOST; i++) {
            wire.says(call("c" + i, "tool"));
            link.calls.answers.getLast().complete(answer("x"));
            link.runCommands();
        }
        assertThat(link.calls.came).hasSize(UnansweredCalls.MOST);
        assertThat(returned(wire)).singleElement().asString().contains("c" + UnansweredCalls.MOST, "too_many_calls");
    }

    @Test
    void whatAnAnswerHoldsIsGivenBackHoweverItEnds() {
        PaperWire wire = open();
        var gone = new ArrayList<String>();
        for (String id : List.of("unread", "late", "withdrawn")) {
            wire.says(call(id, "tool"));
        }
        wire.ready = false;
        link.calls.answers.get(0).complete(answer("x", () -> gone.add("unread")));
        link.runCommands();
        link.calls.answers.get(1).complete(answer("x", () -> gone.add("late")));
        link.calls.answers.get(2).complete(answer("x", () -> gone.add("withdrawn")));
        wire.says(withdrawal("withdrawn"));
        assertThat(gone).isEmpty();
        link.dialling.broken(wire, "cut");
        link.runCommands();
        assertThat(gone).containsExactlyInAnyOrder("unread", "late", "withdrawn");
        assertThat(returned(wire)).isEmpty();
    }

    @Test
    void aConnectionOnWhichACallWaitsIsNotIdle() {
        PaperWire wire = open();
        wire.says(SupervisorFrames.reply(wire.idOf("metrics"), "{}"));
        wire.says(call("1", "tool"));
        link.pass(java.time.Duration.ofMinutes(6));
        assertThat(link.connection.closeIfIdle(java.time.Duration.ofMinutes(5))).isFalse();
        link.calls.answers.getFirst().complete(answer("hi"));
        link.runCommands();
        assertThat(link.connection.closeIfIdle(java.time.Duration.ofMinutes(5))).isTrue();
    }

    @Test
    void whatOneReadsOfServersIsNotAcknowledgedAsFiles() {
        link.asks(new Verb.ListServerTools("web"));
        PaperWire wire = link.open("b00t");
        wire.says(SupervisorFrames.content(wire.idOf("mcp_tools"), 1000));
        assertThat(wire.said()).noneMatch(said -> said.startsWith("credit"));
    }

    @Test
    void callsThatAreNoneAreMalformed() {
        PaperWire wire = open();
        ObjectNode good = JSON.createObjectNode().put("kind", "tool").put("execution_id", "e-1");
        good.putObject("arguments");
        for (String odd : List.of("kind", "execution_id", "arguments")) {
            ObjectNode broken = good.deepCopy();
            broken.put(odd, odd.equals("kind") ? "Tool" : " ");
            wire.says(List.of(new byte[] {'T'}, new byte[] {'1'}, JSON.writeValueAsBytes(broken)));
        }
        wire.says(List.of(new byte[] {'T'}, new byte[] {'1'}));
        wire.says(List.of(new byte[] {'X'}));
        assertThat(link.counters.malformed().sum()).isEqualTo(5);
        wire.says(List.of(new byte[] {'T'}, new byte[] {'1'}, JSON.writeValueAsBytes(good)));
        assertThat(link.calls.came).hasSize(1);
    }
}
