package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Reason;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Why a pod reached its end, by the words that kubelet, scheduler and control plane leave in its status. */
final class PodEnd {

    /**
     * The kubelet's words for a pod that it does not let in, besides those that begin with OutOf; by its
     * {@code admissionRejectionReasons} and the predicates that it asks.
     */
    private static final Set<String> REJECTIONS = Set.of(
            "NodeAffinity",
            "NodeName",
            "NodePorts",
            "NodeShutdown",
            "TaintToleration",
            "InvalidNodeInfo",
            "PodOSNotSupported",
            "PodOSSelectorNodeLabelDoesNotMatch",
            "TopologyAffinityError",
            "SMTAlignmentError",
            "UnexpectedAdmissionError",
            "UnexpectedPredicateFailureType");

    private static final int MAX_CHARS = 1000;

    private PodEnd() {}

    /** A word that Kubernetes has for an end, and what it said besides: empty, or a colon and a sentence. */
    private record Said(String word, String detail) {

        static Said of(String word, @Nullable String message) {
            return new Said(
                    word, message == null || message.isBlank() ? "" : ": " + ForeignText.line(message, MAX_CHARS));
        }
    }

    static PodState.Ended of(Pod pod, PodStatus status) {
        Instant at = endedAt(pod, status);
        return told(pod, status)
                .map(cause -> new PodState.Ended(cause.reason(), cause.message(), at))
                .orElseGet(() -> crashed(pod, status, at));
    }

    /**
     * Why a pod is being deleted; empty if unknown. Its node may never confirm the end, and the object stays for as
     * long: removed by force, it would leave its volumes to a second pod while the first may still run.
     */
    static PodState.Leaving leaving(Pod pod, PodStatus status) {
        Optional<Decision.Cause> cause = told(pod, status);
        if (!PodState.silent(status)) {
            return new PodState.Leaving(cause);
        }
        Decision.Cause known = cause.orElseGet(
                () -> new Decision.Cause(Reason.NODE_LOST, node(pod) + " does not answer, and the pod was deleted"));
        return new PodState.Leaving(Optional.of(new Decision.Cause(known.reason(), known.message() + whatStays(pod))));
    }

    private static String whatStays(Pod pod) {
        boolean claims = Optional.ofNullable(pod.getSpec()).map(PodSpec::getVolumes).orElse(List.of()).stream()
                .anyMatch(volume -> volume.getPersistentVolumeClaim() != null);
        return "; its remains there are cleaned up when the node is back or removed from the cluster"
                + (claims ? ", and until then its volumes may stay attached to that node" : "");
    }

    private static Optional<Decision.Cause> told(Pod pod, PodStatus status) {
        return Stream.concat(
                        Optional.ofNullable(status.getReason())
                                .map(word -> Said.of(word, status.getMessage()))
                                .stream(),
                        disruption(status).stream())
                .flatMap(said -> cause(pod, said).stream())
                .findFirst();
    }

    private static Optional<Decision.Cause> cause(Pod pod, Said said) {
        return switch (said.word()) {
            case "DeadlineExceeded" -> cause(Reason.MAX_LIFETIME, "The pod reached its maximum lifetime");
            case "Evicted", "TerminationByKubelet" -> cause(Reason.EVICTED, "The node evicted the pod" + said.detail());
            case "EvictionByEvictionAPI" ->
                cause(
                        Reason.EVICTED,
                        "The pod was evicted on request, for example because its node is drained" + said.detail());
            case "Preempting", "PreemptionByScheduler" ->
                cause(Reason.EVICTED, "A pod of higher priority took the pod's place" + said.detail());
            case "Terminated", "Shutdown" -> cause(Reason.NODE_LOST, node(pod) + " shuts down" + said.detail());
            case "NodeLost", "DeletionByTaintManager", "DeletionByPodGC" ->
                cause(Reason.NODE_LOST, node(pod) + " no longer runs the pod" + said.detail());
            default ->
                isRejection(said)
                        ? cause(
                                Reason.UNSCHEDULABLE,
                                node(pod) + " rejected the pod (" + said.word() + ")" + said.detail())
                        : Optional.empty();
        };
    }

    private static boolean isRejection(Said said) {
        return REJECTIONS.contains(said.word())
                || said.word().startsWith("OutOf")
                || said.detail().startsWith(": Pod was rejected");
    }

    private static Optional<Decision.Cause> cause(Reason reason, String message) {
        return Optional.of(new Decision.Cause(reason, message));
    }

    private static String node(Pod pod) {
        return Optional.ofNullable(pod.getSpec())
                .map(PodSpec::getNodeName)
                .map(name -> "Node " + name)
                .orElse("The node");
    }

    private static PodState.Ended crashed(Pod pod, PodStatus status, Instant at) {
        Said said = Said.of(Optional.ofNullable(status.getReason()).orElse(""), status.getMessage());
        String word = said.word().isEmpty() ? "" : " (" + said.word() + ")";
        return SandboxContainer.containerStatus(pod)
                .flatMap(container -> ContainerEnd.latest(pod, container))
                .map(end -> new PodState.Ended(end.reason(), "The pod ended: " + end.cause(), at))
                .orElseGet(() -> new PodState.Ended(Reason.CRASHED, "The pod ended" + word + said.detail(), at));
    }

    /** One that came to nothing is taken back by its status; it says nothing of a later end. */
    private static Optional<Said> disruption(PodStatus status) {
        return status.getConditions().stream()
                .filter(condition -> "DisruptionTarget".equals(condition.getType())
                        && "True".equals(condition.getStatus())
                        && condition.getReason() != null)
                .findFirst()
                .map(condition -> Said.of(condition.getReason(), condition.getMessage()));
    }

    /** The latest instant that the status names; a pod that was never let in names none but its creation. */
    private static Instant endedAt(Pod pod, PodStatus status) {
        Stream<String> container = status.getContainerStatuses().stream()
                .map(ContainerStatus::getState)
                .filter(state -> state.getTerminated() != null)
                .map(state -> state.getTerminated().getFinishedAt());
        Stream<String> transitions = status.getConditions().stream().map(PodCondition::getLastTransitionTime);
        return Stream.concat(container, transitions)
                .filter(text -> text != null)
                .map(Instant::parse)
                .max(Instant::compareTo)
                .orElseGet(() -> Deadlines.startOf(pod));
    }
}
