package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Reason;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/** Why a pod reached its end, by the words that kubelet, scheduler and control plane leave in its status. */
final class PodEnd {

    private PodEnd() {}

    static PodState.Ended of(Pod pod, PodStatus status) {
        String word = Optional.ofNullable(status.getReason())
                .or(() -> disruption(status))
                .orElse("");
        String detail = Optional.ofNullable(status.getMessage())
                .map(message -> ": " + message)
                .orElse("");
        Instant at = endedAt(pod, status);
        return switch (word) {
            case "DeadlineExceeded" -> new PodState.Ended(Reason.MAX_LIFETIME, "The pod reached its maximum age", at);
            case "Evicted", "TerminationByKubelet", "EvictionByEvictionAPI", "Preempting", "PreemptionByScheduler" ->
                new PodState.Ended(Reason.EVICTED, "The node put the pod out" + detail, at);
            case "NodeLost", "NodeShutdown", "Terminated", "Shutdown", "DeletionByTaintManager", "DeletionByPodGC" ->
                new PodState.Ended(Reason.NODE_LOST, "The pod's node is gone" + detail, at);
            default -> crashed(pod, status, word, detail, at);
        };
    }

    private static PodState.Ended crashed(Pod pod, PodStatus status, String word, String detail, Instant at) {
        return status.getContainerStatuses().stream()
                .findFirst()
                .flatMap(container -> ContainerEnd.latest(pod, container))
                .map(end -> new PodState.Ended(end.reason(), "The pod is over: " + end.cause(), at))
                .orElseGet(() -> new PodState.Ended(
                        Reason.CRASHED, "The pod is over" + (word.isEmpty() ? "" : " (" + word + ")") + detail, at));
    }

    private static Optional<String> disruption(PodStatus status) {
        return status.getConditions().stream()
                .filter(condition -> "DisruptionTarget".equals(condition.getType()))
                .findFirst()
                .map(PodCondition::getReason);
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
