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
import dev.sandglass.operator.pod.SecretFiles;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A pod gets no further volume: what a tool server's values come from is mounted in the next one. */
class OtherSecretsTest {

    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));
    private static final SecretFiles OLD = files("token");
    private static final SecretFiles NEW = files("token", "user");

    private static SecretFiles files(String... keys) {
        return new SecretFiles(new TreeMap<>(Map.of("sandglass-mcp-github", new TreeSet<>(List.of(keys)))));
    }

    private static Pod pod(SecretFiles mounted, String waitsFor) {
        ContainerState state = waitsFor.isEmpty()
                ? new ContainerStateBuilder().withNewRunning().endRunning().build()
                : new ContainerStateBuilder().withNewWaiting("", waitsFor).build();
        return mounted.mountedIn(new PodBuilder()
                .withNewMetadata()
                .withName("pod-1")
                .withCreationTimestamp(START.toString())
                .addToLabels(SandboxLabels.INCARNATION, "1")
                .endMetadata()
                .withNewSpec()
                .withNodeName("node")
                .addNewContainer()
                .withName(SandboxContainer.NAME)
                .endContainer()
                .endSpec()
                .withNewStatus()
                .withPodIP("10.1.2.3")
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withState(state)
                .endContainerStatus()
                .endStatus()
                .build());
    }

    private static Observed seen(Pod pod, SecretFiles wanted, Optional<PodRefusal> refusal, Instant now) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("time-mcp");
        sandbox.getMetadata().setGeneration(1L);
        sandbox.setSpec(SandboxSpec.DEFAULT);
        Condition ready = new ConditionBuilder()
                .withType(ConditionType.READY.value())
                .withStatus("True")
                .withReason(Reason.RUNNING.value())
                .withLastTransitionTime(START.toString())
                .build();
        sandbox.setStatus(new SandboxStatus(
                1L, List.of(ready), null, "pod-1", 1, START.toString(), null, null, null, null, null));
        return new Observed(
                sandbox,
                Optional.of(pod),
                Optional.empty(),
                refusal,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                wanted,
                true,
                now);
    }

    private static Decision decide(Pod pod, SecretFiles wanted) {
        return Lifecycle.decide(seen(pod, wanted, Optional.empty(), START), DEADLINES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ContainerCreating", "ImagePullBackOff", "CrashLoopBackOff"})
    void aPodWithOtherEntriesIsReplacedInWhateverState(String waitsFor) {
        assertThat(decide(pod(OLD, waitsFor), NEW)).isInstanceOfSatisfying(Decision.Replace.class, replace -> {
            assertThat(replace.former()).isEqualTo(1);
            assertThat(replace.incarnation()).isEqualTo(2);
        });
        assertThat(decide(pod(SecretFiles.NONE, waitsFor), OLD)).isInstanceOf(Decision.Replace.class);
        assertThat(decide(pod(OLD, waitsFor), SecretFiles.NONE)).isInstanceOf(Decision.Replace.class);
    }

    @Test
    void aPodWithTheSameEntriesGoesOn() {
        assertThat(decide(pod(NEW, ""), NEW)).isInstanceOf(Decision.Run.class);
        assertThat(decide(pod(SecretFiles.NONE, ""), SecretFiles.NONE)).isInstanceOf(Decision.Run.class);
    }

    /** A refusal leaves out which Secrets there are to be: an edit by someone else must not end the pod either. */
    @Test
    void whileNoPodMayBeMadeTheOneThatIsThereGoesOn() {
        PodRefusal refusal = new PodRefusal(Reason.STARTING, "The Sandbox does not have the settings of its server");
        Observed seen = seen(pod(OLD, ""), SecretFiles.NONE, Optional.of(refusal), START);

        assertThat(Lifecycle.decide(seen, DEADLINES)).isInstanceOf(Decision.Run.class);
    }

    @Test
    void aPodWhoseTimeHasComeIsNotReplacedButEnds() {
        Observed seen = seen(pod(OLD, ""), NEW, Optional.empty(), START.plus(Duration.ofHours(8)));

        assertThat(Lifecycle.decide(seen, DEADLINES)).isEqualTo(new Decision.Suspend(Reason.MAX_LIFETIME, 1));
    }

    @Test
    void theConditionSaysWhyAFreshPodStarts() {
        Observed before = seen(pod(OLD, ""), NEW, Optional.empty(), START);
        Decision decision = Lifecycle.decide(before, DEADLINES);
        Observed after = before.after(Optional.of(pod(NEW, "ContainerCreating")), Optional.empty(), true);

        Condition ready = StatusReport.of(after, decision, Optional.empty(), DEADLINES)
                .condition(ConditionType.READY)
                .orElseThrow();
        assertThat(ready.getReason()).isEqualTo(Reason.STARTING.value());
        assertThat(ready.getMessage()).contains("other entries of Secrets", "a fresh pod is starting");
    }
}
