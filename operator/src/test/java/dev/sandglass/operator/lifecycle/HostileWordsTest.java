package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What containers, nodes and authors say stands in conditions and Events on one line, all of it to be seen. */
class HostileWordsTest {

    private static Pod pod(PodStatus status, String image) {
        return new PodBuilder()
                .withNewMetadata()
                .withName("sbx-1")
                .withCreationTimestamp("2026-03-01T10:00:00Z")
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName(SandboxContainer.NAME)
                .withTerminationMessagePath("/root/termination-log")
                .withImage(image)
                .withNewResources()
                .withLimits(Map.of("memory", new Quantity("512Mi")))
                .endResources()
                .endContainer()
                .endSpec()
                .withStatus(status)
                .build();
    }

    private static PodStatus ended(int exit, String words) {
        return new PodStatusBuilder()
                .withContainerStatuses(new ContainerStatusBuilder()
                        .withName(SandboxContainer.NAME)
                        .withNewState()
                        .withNewTerminated()
                        .withReason("Error")
                        .withExitCode(exit)
                        .withMessage(words)
                        .endTerminated()
                        .endState()
                        .build())
                .build();
    }

    private static PodStatus waiting(String reason, String words) {
        return new PodStatusBuilder()
                .withContainerStatuses(new ContainerStatusBuilder()
                        .withName(SandboxContainer.NAME)
                        .withImage(words)
                        .withNewState()
                        .withNewWaiting()
                        .withReason(reason)
                        .withMessage(words)
                        .endWaiting()
                        .endState()
                        .build())
                .build();
    }

    private static PodStatus evicted(String words) {
        return new PodStatusBuilder()
                .withPhase("Failed")
                .withReason("Evicted")
                .withMessage(words)
                .build();
    }

    private static PodStatus unschedulable(String words) {
        return new PodStatusBuilder()
                .withConditions(new PodConditionBuilder()
                        .withType("PodScheduled")
                        .withReason("Unschedulable")
                        .withMessage(words)
                        .build())
                .build();
    }

    private static String message(PodState state) {
        return switch (state) {
            case PodState.Starting starting -> starting.message();
            case PodState.Broken broken -> broken.message();
            case PodState.Ended ended -> ended.message();
            case PodState.Running _, PodState.Leaving _ -> throw new AssertionError(state);
        };
    }

    /** As it is published, and as an Event has it. */
    private static String told(String message) {
        Sandbox sandbox = Statuses.sandbox("tenant-a", "demo", SandboxStatus.UNSEEN);
        sandbox.getMetadata().setGeneration(1L);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        var seen = new Observed(sandbox, Optional.empty(), Optional.empty(), Optional.empty(), true, Instant.EPOCH);
        SandboxStatus status = SandboxStatus.UNSEEN.withConditions(Conditions.failed(seen, message));
        String condition = status.condition(ConditionType.READY).orElseThrow().getMessage();
        Notice notice = Notice.of(SandboxStatus.UNSEEN, status).orElseThrow();
        assertThat(condition).startsWith(notice.note().replace("…", ""));
        return condition;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a\u001b[2J\u001b]8;;http://x\u0007b",
                "a\nReady: True\r\nb\u2028c\u2029d\u0085e",
                "a\u202egpj.exe\u2066b\u2069\u200f",
                "a\u009b31mb\u0090c\u007f",
                "a\u200b\ufeff\u00adb\udb40\udc49\ufe0f",
                "a\ud800b\udc00c",
            })
    void areCleaned(String hostile) {
        for (PodStatus status : List.of(
                ended(1, hostile),
                ended(3, "image-lacks: " + hostile.replace("\n", " ")),
                waiting("ImagePullBackOff", hostile),
                waiting("CreateContainerError", hostile),
                evicted(hostile),
                unschedulable(hostile))) {
            String condition = told(message(PodState.of(pod(status, hostile))));
            assertThat(condition).contains("a").hasLineCount(1).matches("[\\x20-\\x7e]+");
        }
        StartBlocker blocker = StartBlocker.in(List.of(new EventBuilder()
                        .withReason("FailedMount")
                        .withMessage(hostile)
                        .build()))
                .orElseThrow();
        assertThat(told(blocker.message())).hasLineCount(1).matches("[\\x20-\\x7e]+");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "é", "\ud83d\ude00"})
    void areBounded(String letter) {
        String words = letter.repeat(40_000);
        assertThat(message(PodState.of(pod(ended(1, words), "kernel:1"))).length())
                .isLessThan(500);
        assertThat(message(PodState.of(pod(evicted(words), "kernel:1"))).length())
                .isLessThan(1100);
        assertThat(told(words).length()).isLessThanOrEqualTo(32_768);
    }
}
