package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Sinks;

/** Links that stay open for what runs without a call that follows it. */
class KeptLinksTest {

    private static final Duration LOOK = Duration.ofMinutes(1);
    private static final String RUNS = execution("a", "running");
    private static final String WAITS = execution("b", "queued");
    private static final String ENDED = execution("c", "done");

    private final Map<String, PaperLink> links = new ConcurrentHashMap<>();
    private final Sinks.Many<SandboxEnd> ends = Sinks.many().multicast().directBestEffort();
    private final KeptLinks kept = new KeptLinks(sandbox -> link(sandbox.uid()), _ -> ends.asFlux(), 3, LOOK);

    private static String execution(String number, String state) {
        return "{\"execution_id\":\"%s\",\"state\":\"%s\",\"kind\":\"code\"}".formatted(number, state);
    }

    private static RunningSandbox box(String uid) {
        return new RunningSandbox(new SandboxRef("default", "sandglass-default", uid, uid), uid, 1, "127.0.0.1", 5710);
    }

    private PaperLink link(String uid) {
        return links.computeIfAbsent(uid, _ -> new PaperLink());
    }

    private Adopted adopt(String uid) {
        return kept.adopt(box(uid)).toFuture().getNow(null);
    }

    @Test
    void keepsALinkAsLongAsAnythingRunsOrWaitsThere() {
        PaperLink link = link("one");
        kept.keep(box("one"));
        assertThat(link.isHeld()).isTrue();
        assertThat(link.asked).isZero();
        for (List<String> executions : List.of(List.of(RUNS), List.of(ENDED, WAITS))) {
            link.executions = executions;
            link.pass(LOOK);
            assertThat(link.isHeld()).isTrue();
        }
        assertThat(link.asked).isEqualTo(2);
        link.executions = List.of(ENDED);
        link.pass(LOOK);
        assertThat(link.isHeld()).isFalse();
        assertThat(kept.size()).isZero();
        link.pass(LOOK);
        assertThat(link.asked).as("looks after the end").isEqualTo(3);
    }

    @Test
    void asksBeforeItAdoptsAndClosesWhatItOpenedForNothing() {
        link("busy").executions = List.of(RUNS);
        link("idle").executions = List.of(ENDED);
        link("used").open = true;
        assertThat(adopt("busy")).isEqualTo(Adopted.ADOPTED);
        assertThat(adopt("busy")).isEqualTo(Adopted.KEPT_BEFORE);
        assertThat(adopt("idle")).isEqualTo(Adopted.IDLE);
        assertThat(adopt("used")).isEqualTo(Adopted.IDLE);
        assertThat(links.values().stream().filter(PaperLink::isHeld)).containsExactly(link("busy"));
        assertThat(link("busy").released).isZero();
        assertThat(link("idle").released).isEqualTo(1);
        assertThat(link("used").released).as("others use it").isZero();
    }

    /** Callers are told of the newest 64; a sandbox keeps as many that ended, and what runs may be older. */
    @Test
    void whatRunsMayBeOlderThanAllThatCallersAreToldOf() {
        link("one").executions = IntStream.rangeClosed(0, SandboxContents.MOST_EXECUTIONS)
                .mapToObj(n -> n == 0 ? RUNS : ENDED)
                .toList();
        assertThat(adopt("one")).isEqualTo(Adopted.ADOPTED);
    }

    @Test
    void keepsNoMoreThanItMay() {
        for (String uid : List.of("one", "two", "three")) {
            assertThat(kept.keep(box(uid))).isTrue();
        }
        link("four").executions = List.of(RUNS);
        assertThat(kept.keep(box("four"))).isFalse();
        assertThat(adopt("four")).isEqualTo(Adopted.TOO_MANY);
        assertThat(link("four").asked).as("not even asked").isZero();
        assertThat(kept.keep(box("one"))).as("kept already").isTrue();
        link("two").executions = List.of();
        link("two").pass(LOOK);
        assertThat(adopt("four")).isEqualTo(Adopted.ADOPTED);
    }

    @Test
    void aSandboxWhosePodEndedIsLetGo() {
        kept.keep(box("one"));
        ends.tryEmitNext(new SandboxEnd.ContainerEnded("it ended", false));
        assertThat(link("one").isHeld()).isTrue();
        ends.tryEmitNext(new SandboxEnd.PodGone("it was stopped"));
        assertThat(link("one").isHeld()).isFalse();
        assertThat(kept.size()).isZero();
    }

    @Test
    void aSandboxThatIsSilentForLongIsLetGo() {
        PaperLink link = link("one");
        kept.keep(box("one"));
        link.silent = true;
        for (int look = 1; look < KeptLinks.MOST_SILENT_LOOKS; look++) {
            link.pass(LOOK);
        }
        link.silent = false;
        link.executions = List.of(RUNS);
        link.pass(LOOK);
        link.silent = true;
        for (int look = 1; look < KeptLinks.MOST_SILENT_LOOKS; look++) {
            link.pass(LOOK);
            assertThat(link.isHeld()).isTrue();
        }
        link.pass(LOOK);
        assertThat(link.isHeld()).isFalse();
    }

    @Test
    void aSandboxThatDoesNotAnswerIsNotAdopted() {
        link("one").silent = true;
        assertThat(adopt("one")).isEqualTo(Adopted.UNREACHABLE);
        assertThat(link("one").isHeld()).isFalse();
        assertThat(link("one").released).isEqualTo(1);
    }

    @Test
    void answersThatAreNoneAreNothingThatRuns() {
        for (String odd : List.of("7", "\"running\"", "{\"state\":7}", "{\"state\":\"flying\"}")) {
            link("one").executions = List.of(odd);
            assertThat(adopt("one")).as(odd).isEqualTo(Adopted.IDLE);
        }
    }
}
