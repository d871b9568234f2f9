package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.operator.pod.SandboxContainer;
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
class StartBlockerTest {

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
                .withName(SandboxContainer.NAME)
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
        Instant late = MADE.plus(StartBlocker.SLOW);

        assertThat(StartBlocker.isDue(pod("node", "ContainerCreating"), late)).isTrue();
        assertThat(StartBlocker.isDue(pod("node", "ContainerCreating"), late.minusMillis(1)))
                .isFalse();
        assertThat(StartBlocker.isDue(pod(null, "ContainerCreating"), late)).isFalse();
        assertThat(StartBlocker.isDue(pod("node", "ErrImagePull"), late)).isFalse();
    }

    @Test
    void itIsLookedAtFirstWhenItIsSlowAndThenAgainAndAgain() {
        Pod pod = pod("node", "ContainerCreating");

        assertThat(StartBlocker.nextLook(pod, MADE)).contains(MADE.plus(StartBlocker.SLOW));
        assertThat(StartBlocker.nextLook(pod, MADE.plusSeconds(40))).contains(MADE.plusSeconds(55));
        assertThat(StartBlocker.nextLook(pod(null, "ContainerCreating"), MADE)).isEmpty();
    }

    @Test
    void whatAVolumeLacksIsToldInTheNodesWords() {
        assertThat(StartBlocker.in(
                        List.of(event("Warning", "FailedMount", "2026-03-01T10:00:17Z", "configmap not found "))))
                .contains(new StartBlocker(
                        Reason.VOLUME_MISSING, "The node cannot mount a volume (FailedMount): configmap not found"));
    }

    /** As the kubelet says it; the volume has the name of its Secret. */
    @Test
    void anEntryThatASecretLacksIsNamedWithTheSecret() {
        String words = "MountVolume.SetUp failed for volume \"sandglass-mcp-github\" : references non-existent secret"
                + " key: token";

        assertThat(StartBlocker.in(List.of(event("Warning", "FailedMount", "2026-03-01T10:00:17Z", words))))
                .contains(new StartBlocker(
                        Reason.VOLUME_MISSING, "The node cannot mount a volume (FailedMount): " + words));
    }

    @Test
    void troubleThatSomethingElseFollowedIsOver() {
        Event pulls = new EventBuilder()
                .withType("Normal")
                .withReason("Pulling")
                .withEventTime(new MicroTime("2026-03-01T10:00:18.000000Z"))
                .build();

        assertThat(StartBlocker.in(List.of(event("Warning", "FailedMount", "2026-03-01T10:00:17Z", "x"), pulls)))
                .isEmpty();
        assertThat(StartBlocker.in(List.of())).isEmpty();
    }

    @Test
    void theLastOfASeriesCounts() {
        Event again = new EventBuilder(event("Warning", "FailedMount", "2026-03-01T10:00:10Z", "again"))
                .withNewSeries()
                .withLastObservedTime(new MicroTime("2026-03-01T10:00:30.000000Z"))
                .endSeries()
                .build();

        assertThat(StartBlocker.in(List.of(again, event("Normal", "Pulling", "2026-03-01T10:00:20Z", ""))))
                .isPresent();
    }

    @Test
    void longWordsAreCut() {
        assertThat(StartBlocker.in(
                        List.of(event("Warning", "FailedMount", "2026-03-01T10:00:17Z", "x".repeat(10_000)))))
                .hasValueSatisfying(blocker -> assertThat(blocker.message()).hasSizeLessThan(600));
    }
}
