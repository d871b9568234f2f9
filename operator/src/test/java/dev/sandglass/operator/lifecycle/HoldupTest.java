package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** When the Events of a pod are read, and what is made of them. */
class HoldupTest {

    private static final Instant MADE = Instant.parse("2026-03-01T10:00:00Z");

    private static Pod pod(@Nullable String node, String waitsFor) {
        return new PodBuilder()
                .withNewMetadata()
                .withCreationTimestamp(MADE.toString())
                .endMetadata()
                .withNewSpec()
                .withNodeName(node)
                .endSpec()
                .withNewStatus()
                .withPhase("Pending")
                .addNewContainerStatus()
                .withImage("image")
                .withNewState()
                .withNewWaiting()
                .withReason(waitsFor)
                .endWaiting()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    private static Event event(String type, String reason, String time, String message) {
        return new EventBuilder()
                .withType(type)
                .withReason(reason)
                .withLastTimestamp(time)
                .withMessage(message)
                .build();
    }

    @Test
    void eventsAreReadOfAPodThatItsNodeHasForLongWithoutAWord() {
        Instant late = MADE.plus(Holdup.SLOW);

        assertThat(Holdup.isDue(pod("node", "ContainerCreating"), late)).isTrue();
        assertThat(Holdup.isDue(pod("node", "ContainerCreating"), late.minusMillis(1)))
                .isFalse();
        assertThat(Holdup.isDue(pod(null, "ContainerCreating"), late)).isFalse();
        assertThat(Holdup.isDue(pod("node", "ErrImagePull"), late)).isFalse();
    }

    @Test
    void itIsLookedAtFirstWhenItIsSlowAndThenAgainAndAgain() {
        Pod pod = pod("node", "ContainerCreating");

        assertThat(Holdup.nextLook(pod, MADE)).contains(MADE.plus(Holdup.SLOW));
        assertThat(Holdup.nextLook(pod, MADE.plusSeconds(40))).contains(MADE.plusSeconds(55));
        assertThat(Holdup.nextLook(pod(null, "ContainerCreating"), MADE)).isEmpty();
    }

    @Test
    void whatAVolumeLacksIsToldInTheNodesWords() {
        assertThat(Holdup.in(List.of(event("Warning", "FailedMount", "2026-03-01T10:00:17Z", "configmap not found "))))
                .contains(new Holdup(
                        Reason.VOLUME_MISSING, "The node cannot mount a volume (FailedMount): configmap not found"));
    }

    @Test
    void troubleThatSomethingElseFollowedIsOver() {
        Event pulls = new EventBuilder()
                .withType("Normal")
                .withReason("Pulling")
                .withEventTime(new MicroTime("2026-03-01T10:00:18.000000Z"))
                .build();

        assertThat(Holdup.in(List.of(event("Warning", "FailedMount", "2026-03-01T10:00:17Z", "x"), pulls)))
                .isEmpty();
        assertThat(Holdup.in(List.of())).isEmpty();
    }

    @Test
    void theLastOfASeriesCounts() {
        Event again = new EventBuilder(event("Warning", "FailedMount", "2026-03-01T10:00:10Z", "again"))
                .withNewSeries()
                .withLastObservedTime(new MicroTime("2026-03-01T10:00:30.000000Z"))
                .endSeries()
                .build();

        assertThat(Holdup.in(List.of(again, event("Normal", "Pulling", "2026-03-01T10:00:20Z", ""))))
                .isPresent();
    }

    @Test
    void longWordsAreCut() {
        assertThat(Holdup.in(List.of(event("Warning", "FailedMount", "2026-03-01T10:00:17Z", "x".repeat(10_000)))))
                .hasValueSatisfying(holdup -> assertThat(holdup.message()).hasSizeLessThan(600));
    }
}
