package dev.sandglass.operator.lifecycle;

import static dev.sandglass.api.ConditionType.READY;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.cluster.Statuses;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said of a pod that somebody else ended, and what follows it. */
class PodEndTest {

    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final Instant SOON = START.plus(Duration.ofMinutes(10));
    private static final Deadlines DEADLINES =
            new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24));

    private static Pod pod() {
        return new PodBuilder()
                .withNewMetadata()
                .withName("pod-1")
                .withCreationTimestamp(START.toString())
                .addToLabels(SandboxLabels.INCARNATION, "1")
                .endMetadata()
                .withNewSpec()
                .withNodeName("node-7")
                .endSpec()
                .withNewStatus()
                .withPhase("Running")
                .addNewContainerStatus()
                .withName(SandboxContainer.NAME)
                .withReady(true)
                .withNewState()
                .withNewRunning()
                .endRunning()
                .endState()
                .endContainerStatus()
                .endStatus()
                .build();
    }

    private static Pod condition(Pod pod, String type, String status, @Nullable String reason) {
        return pod.edit()
                .editStatus()
                .addNewCondition()
                .withType(type)
                .withStatus(status)
                .withReason(reason)
                .withMessage("its words")
                .withLastTransitionTime(SOON.toString())
                .endCondition()
                .endStatus()
                .build();
    }

    private static Pod leaving(Pod pod) {
        return pod.edit()
                .editMetadata()
                .withDeletionTimestamp(SOON.toString())
                .endMetadata()
                .build();
    }

    private static Pod failed(Pod pod, @Nullable String reason) {
        return pod.edit()
                .editStatus()
                .withPhase("Failed")
                .withReason(reason)
                .endStatus()
                .build();
    }

    private static Sandbox sandbox(Reason ready) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setGeneration(1L);
        Condition told = new ConditionBuilder()
                .withType(READY.value())
                .withStatus(ready == Reason.RUNNING ? "True" : "False")
                .withReason(ready.value())
                .withMessage("told before")
                .withLastTransitionTime(START.toString())
                .build();
        sandbox.setStatus(new SandboxStatus(
                1L,
                List.of(told),
                null,
                "pod-1",
                1,
                START.toString(),
                null,
                START.plus(Duration.ofHours(8)).toString(),
                null,
                null,
                null));
        return sandbox;
    }

    private static Decision decide(Sandbox sandbox, Optional<Pod> pod, Optional<Lease> use, Instant now) {
        return Lifecycle.decide(new Observed(sandbox, pod, use, Optional.empty(), true, now), DEADLINES);
    }

    private static Decision.Cause cause(Pod pod) {
        Decision decision = decide(sandbox(Reason.RUNNING), Optional.of(pod), Optional.empty(), SOON);
        assertThat(decision).isInstanceOfSatisfying(Decision.Replace.class, replace -> assertThat(replace.incarnation())
                .isEqualTo(2));
        return ((Decision.Replace) decision).cause().orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "EvictionByEvictionAPI, EVICTED, 'The pod was evicted on request, for example because its node is drained: its words'",
        "PreemptionByScheduler, EVICTED, 'A pod of higher priority took the pod''s place: its words'",
        "TerminationByKubelet, EVICTED, 'The node evicted the pod: its words'",
        "DeletionByTaintManager, NODE_LOST, 'Node node-7 no longer runs the pod: its words'",
        "DeletionByPodGC, NODE_LOST, 'Node node-7 no longer runs the pod: its words'",
    })
    void aDisruptionIsTheCauseWhetherThePodIsLeavingOrOver(String word, Reason reason, String message) {
        Pod disrupted = condition(pod(), "DisruptionTarget", "True", word);
        Decision.Cause expected = new Decision.Cause(reason, message);

        assertThat(cause(leaving(disrupted))).isEqualTo(expected);
        assertThat(cause(failed(disrupted, null))).isEqualTo(expected);
        assertThat(cause(failed(disrupted, "AWordOfALaterVersion"))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "Evicted, EVICTED, The node evicted the pod",
        "Preempting, EVICTED, A pod of higher priority took the pod's place",
        "NodeLost, NODE_LOST, Node node-7 no longer runs the pod",
        "Terminated, NODE_LOST, Node node-7 shuts down",
    })
    void theWordOfTheStatusComesBeforeThatOfTheDisruption(String word, Reason reason, String message) {
        Pod pod = failed(condition(pod(), "DisruptionTarget", "True", "TerminationByKubelet"), word);

        assertThat(cause(pod)).isEqualTo(new Decision.Cause(reason, message));
        assertThat(cause(leaving(pod))).isEqualTo(new Decision.Cause(reason, message));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "OutOfcpu",
                "OutOfmemory",
                "OutOfpods",
                "OutOfephemeral-storage",
                "OutOfexample.com/gpu",
                "NodeAffinity",
                "NodeShutdown",
                "UnexpectedAdmissionError"
            })
    void aPodThatItsNodeSentBackIsNoCrashAndRanNothing(String word) {
        isSentBack(rejected(word, "Node didn't have enough resource"), word + "): Node didn't have enough resource");
    }

    @Test
    void aWordOfALaterKubeletIsARejectionIfItSaysSo() {
        isSentBack(rejected("ALaterWord", "Pod was rejected: no"), "ALaterWord): Pod was rejected: no");
        assertThat(cause(rejected("ALaterWord", "It failed")).reason()).isEqualTo(Reason.CRASHED);
        assertThat(cause(rejected("Evicted", "Pod was rejected: The node had condition: [DiskPressure]"))
                        .reason())
                .as("whom a node puts out for want of room it also does not let in")
                .isEqualTo(Reason.EVICTED);
    }

    private static void isSentBack(Pod pod, String words) {
        assertThat(cause(pod))
                .isEqualTo(new Decision.Cause(Reason.UNSCHEDULABLE, "Node node-7 rejected the pod (" + words));
        Sandbox starting = sandbox(Reason.STARTING);
        starting.setStatus(Statuses.ready("False", Reason.STARTING, "told before"));
        Observed seen = new Observed(starting, Optional.of(pod), Optional.empty(), Optional.empty(), true, SOON);
        assertThat(Loss.of(seen, Lifecycle.decide(seen, DEADLINES))).isEmpty();
    }

    /** As the kubelet leaves one: without containers. */
    private static Pod rejected(String word, String message) {
        return pod().edit()
                .withNewStatus()
                .withPhase("Failed")
                .withReason(word)
                .withMessage(message)
                .endStatus()
                .build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"EvictionByEvictionAPI", "DeletionByTaintManager"})
    void aDisruptionThatWasTakenBackIsNoCause(String word) {
        Pod spared = condition(pod(), "DisruptionTarget", "False", word);

        assertThat(cause(failed(spared, null)).reason()).isEqualTo(Reason.CRASHED);
        assertThat(decide(sandbox(Reason.RUNNING), Optional.of(leaving(spared)), Optional.empty(), SOON))
                .isEqualTo(new Decision.Replace(1, 2, Optional.empty()));
    }

    @Test
    void aPodThatSomebodyDeletedHasNoCauseOfItsOwn() {
        assertThat(decide(sandbox(Reason.RUNNING), Optional.of(leaving(pod())), Optional.empty(), SOON))
                .isEqualTo(new Decision.Replace(1, 2, Optional.empty()));
    }

    @Test
    void whatASilentNodeDoesNotConfirmIsNotWaitedForAndSaidToStay() {
        Pod silent = leaving(condition(pod(), "Ready", "False", null));
        Pod lost = condition(silent, "DisruptionTarget", "True", "DeletionByTaintManager");
        String stays = "; its remains there are cleaned up when the node is back or removed from the cluster";

        assertThat(cause(silent))
                .isEqualTo(new Decision.Cause(
                        Reason.NODE_LOST, "Node node-7 does not answer, and the pod was deleted" + stays));
        assertThat(cause(lost))
                .isEqualTo(
                        new Decision.Cause(Reason.NODE_LOST, "Node node-7 no longer runs the pod: its words" + stays));
        Pod withClaim = lost.edit()
                .editSpec()
                .addNewVolume()
                .withName("workspace")
                .withNewPersistentVolumeClaim("workspace-demo", false)
                .endVolume()
                .endSpec()
                .build();
        assertThat(cause(withClaim).message())
                .endsWith(stays + ", and until then its volumes may stay attached to that node");
    }

    @Test
    void ofAPodThatIsGoneItIsRememberedThatItsNodeWasSilent() {
        assertThat(decide(sandbox(Reason.NODE_LOST), Optional.empty(), Optional.empty(), SOON))
                .isEqualTo(new Decision.Replace(
                        1,
                        2,
                        Optional.of(new Decision.Cause(
                                Reason.NODE_LOST, "The pod is gone with its node, which did not answer"))));
        assertThat(decide(sandbox(Reason.RUNNING), Optional.empty(), Optional.empty(), SOON))
                .isEqualTo(new Decision.Replace(1, 2, Optional.empty()));
    }

    @Test
    void aPodWhoseIdleTimeIsOverHasNoSuccessorHoweverItEnded() {
        Instant idle = START.plus(Duration.ofMinutes(30));
        List<Optional<Pod>> ends = List.of(
                Optional.empty(),
                Optional.of(leaving(pod())),
                Optional.of(failed(condition(pod(), "Ready", "False", null), "Evicted")));
        for (Optional<Pod> end : ends) {
            assertThat(decide(sandbox(Reason.RUNNING), end, Optional.empty(), idle.minusMillis(1)))
                    .isInstanceOf(Decision.Replace.class);
            assertThat(decide(sandbox(Reason.RUNNING), end, Optional.empty(), idle))
                    .isEqualTo(new Decision.Suspend(Reason.IDLE, 1));
            assertThat(decide(sandbox(Reason.RUNNING), end, Optional.of(used(idle.minusSeconds(1))), idle))
                    .isInstanceOf(Decision.Replace.class);
        }
    }

    @Test
    void aPodWhoseMaximumAgeIsOverHasNoSuccessorHoweverItEnded() {
        Instant old = START.plus(Duration.ofHours(8));
        Optional<Lease> use = Optional.of(used(old));
        for (Optional<Pod> end : List.of(Optional.<Pod>empty(), Optional.of(leaving(pod())))) {
            assertThat(decide(sandbox(Reason.RUNNING), end, use, old.minusMillis(1)))
                    .isInstanceOf(Decision.Replace.class);
            assertThat(decide(sandbox(Reason.RUNNING), end, use, old))
                    .isEqualTo(new Decision.Suspend(Reason.MAX_LIFETIME, 1));
        }
        Pod ended = leaving(failed(pod(), "DeadlineExceeded"));
        assertThat(decide(sandbox(Reason.RUNNING), Optional.of(ended), Optional.empty(), SOON))
                .as("the node was told a shorter age")
                .isEqualTo(new Decision.Suspend(Reason.MAX_LIFETIME, 1));
    }

    private static Lease used(Instant at) {
        return new LeaseBuilder()
                .withNewSpec()
                .withRenewTime(at.atZone(ZoneOffset.UTC))
                .withLeaseDurationSeconds(0)
                .endSpec()
                .build();
    }
}
