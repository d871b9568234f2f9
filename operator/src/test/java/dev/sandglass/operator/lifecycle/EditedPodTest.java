package dev.sandglass.operator.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pod that never came up has nothing to lose when its sandbox is edited; any other has. */
class EditedPodTest {

    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    private static final PodRefusal FORBIDDEN =
            new PodRefusal(Reason.IMAGE_FORBIDDEN, "spec.image: it is not on the list");

    /** The digest of a spec that says nothing. */
    private static final String DEFAULTS = "440626df41cfe51d";

    private static Sandbox sandbox() {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setGeneration(2L);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        var ready = new ConditionBuilder()
                .withType(ConditionType.READY.value())
                .withStatus("False")
                .withReason(Reason.STARTING.value())
                .withLastTransitionTime(START.toString())
                .build();
        sandbox.setStatus(new SandboxStatus(1L, List.of(ready), null, "pod-1", 1, null, null, null, null, null, null));
        return sandbox;
    }

    /** Made for an earlier spec, and waiting. */
    private static Pod waiting(String reason, String message) {
        return new PodBuilder()
                .withNewMetadata()
                .withName("pod-1")
                .withCreationTimestamp(START.toString())
                .addToLabels(SandboxLabels.INCARNATION, "1")
                .addToAnnotations(SandboxLabels.POD_SPEC_HASH, "of an earlier spec")
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName(SandboxContainer.NAME)
                .withImage("registry.example.com/other:1")
                .endContainer()
                .endSpec()
                .withNewStatus()
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withNewState()
                .withNewWaiting(message, reason)
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    private static Decision decide(Pod pod, Optional<PodRefusal> refusal) {
        return Lifecycle.decide(seen(pod, refusal), DEADLINES);
    }

    private static Observed seen(Pod pod, Optional<PodRefusal> refusal) {
        return new Observed(sandbox(), Optional.of(pod), Optional.empty(), refusal, true, START);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ImagePullBackOff", "RunContainerError"})
    void isReplacedIfItNeverCameUp(String reason) {
        Pod pod = waiting(reason, "exec: \"python3\": executable file not found in $PATH");

        assertThat(decide(pod, Optional.empty())).isEqualTo(new Decision.Replace(1, 2, Optional.empty()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ContainerCreating", "CreateContainerConfigError", "RunContainerError"})
    void staysWhereItMayComeUpYet(String reason) {
        assertThat(decide(waiting(reason, "no fault of the image"), Optional.empty()))
                .isInstanceOf(Decision.Run.class);
    }

    @Test
    void staysIfTheEditIsRefusedAndSaysBoth() {
        Pod pod = waiting("ImagePullBackOff", "no such tag");

        assertThat(decide(pod, Optional.of(FORBIDDEN))).isInstanceOf(Decision.Run.class);
        Condition ready = told(pod, FORBIDDEN);
        assertThat(ready.getReason()).isEqualTo(Reason.IMAGE_PULL_FAILED.value());
        assertThat(ready.getMessage())
                .contains("no such tag")
                .endsWith("; the operator would not create a new pod: spec.image: it is not on the list");
    }

    /** As after a list of hosts got a wrong entry, which shapes no pod, or a rule of the installation changed. */
    @Test
    void ifItRunsItSaysThatItsNextStartWouldFail() {
        Pod pod = waiting("", "")
                .edit()
                .editMetadata()
                .addToAnnotations(SandboxLabels.POD_SPEC_HASH, DEFAULTS)
                .endMetadata()
                .editStatus()
                .withPodIP("10.1.2.3")
                .editFirstContainerStatus()
                .withNewState()
                .withNewRunning()
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();

        Condition ready = told(pod, FORBIDDEN);
        assertThat(ready.getStatus()).isEqualTo("True");
        assertThat(ready.getReason()).isEqualTo(Reason.RUNNING.value());
        assertThat(ready.getMessage())
                .isEqualTo("The sandbox runs; its next start would fail: spec.image: it is not on the list");
    }

    @Test
    void ifItIsOverAndTheEditIsRefusedTheRefusalIsTheCause() {
        Pod pod = waiting("", "")
                .edit()
                .editStatus()
                .withPhase("Failed")
                .withReason("Evicted")
                .withMessage("The node was low on resource: memory.")
                .withContainerStatuses()
                .endStatus()
                .build();

        assertThat(decide(pod, Optional.of(FORBIDDEN))).isInstanceOf(Decision.Wait.class);
        Condition ready = told(pod, FORBIDDEN);
        assertThat(ready.getReason()).isEqualTo(Reason.IMAGE_FORBIDDEN.value());
        assertThat(ready.getMessage())
                .startsWith("spec.image: it is not on the list; the previous pod: The node evicted the pod")
                .contains("low on resource: memory");
    }

    private static Condition told(Pod pod, PodRefusal refusal) {
        Observed seen = seen(pod, Optional.of(refusal));
        return StatusReport.of(seen, Lifecycle.decide(seen, DEADLINES), Optional.empty(), DEADLINES)
                .condition(ConditionType.READY)
                .orElseThrow();
    }

    @Test
    void staysWithoutAnEdit() {
        Pod pod = waiting("ImagePullBackOff", "no such tag");
        pod.getMetadata().getAnnotations().put(SandboxLabels.POD_SPEC_HASH, DEFAULTS);

        assertThat(decide(pod, Optional.empty())).isInstanceOf(Decision.Run.class);
    }
}
