package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Reason;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** What a pod's status amounts to. */
sealed interface PodState {

    /** Most characters of what a node or the scheduler says. */
    int MAX_CHARS = 1000;

    /** The kubelet's words (k8s.io/kubernetes, pkg/kubelet/util/manager); code that never ran cannot have said them. */
    Pattern API_SILENT = Pattern.compile("failed to sync (secret|configmap) cache: ");

    /** On its way up; the reason says whether something holds it up. */
    record Starting(Reason reason, String message) implements PodState {}

    /**
     * The container runs and the pod has an address.
     *
     * @param lastEnd why the container was restarted, if it was
     */
    record Running(String address, int restarts, Optional<ContainerEnd> lastEnd) implements PodState {}

    /** The container is down, or its node is silent; Kubernetes is at it. */
    record Broken(Reason reason, String message) implements PodState {}

    /** Over for good, while the object is still there. */
    record Ended(Reason reason, String message, Instant at) implements PodState {}

    /**
     * Being deleted.
     *
     * @param cause what ended it, if known
     */
    record Leaving(Optional<Decision.Cause> cause) implements PodState {}

    /** Reads a pod; the order of the questions matters. */
    static PodState of(Pod pod) {
        PodStatus status = Optional.ofNullable(pod.getStatus()).orElseGet(PodStatus::new);
        if (pod.getMetadata().getDeletionTimestamp() != null) {
            return PodEnd.leaving(pod, status);
        }
        if ("Failed".equals(status.getPhase()) || "Succeeded".equals(status.getPhase())) {
            return PodEnd.of(pod, status);
        }
        return SandboxContainer.containerStatus(pod)
                .map(container -> of(pod, status, container))
                .orElseGet(() -> scheduling(status));
    }

    private static PodState of(Pod pod, PodStatus status, ContainerStatus container) {
        Optional<ContainerEnd> end = ContainerEnd.latest(pod, container);
        if (container.getState().getRunning() != null && status.getPodIP() != null) {
            // The node tries again and again; between two attempts the same image is no better than before.
            return end.filter(last -> last.reason() == Reason.IMAGE_UNUSABLE)
                    .<PodState>map(ContainerEnd::broken)
                    .orElseGet(() -> running(pod, status, container));
        }
        if (container.getState().getWaiting() == null) {
            return end.<PodState>map(ContainerEnd::broken).orElseGet(PodState::starting);
        }
        ContainerStateWaiting waiting = container.getState().getWaiting();
        String reason = waiting.getReason() == null || awaitsApi(waiting) ? "" : waiting.getReason();
        String detail = Optional.ofNullable(waiting.getMessage())
                .map(message -> ": " + ForeignText.line(message, MAX_CHARS))
                .orElse("");
        return switch (reason) {
            case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError" ->
                new Starting(
                        Reason.IMAGE_PULL_FAILED,
                        "The node cannot pull the image " + container.getImage() + " (" + reason + ")" + detail);
            case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError" ->
                ImageFault.ofRefusal(pod, detail)
                        .map(ContainerEnd::broken)
                        .orElseGet(() -> new Broken(
                                Reason.CRASHED, "The container cannot be started (" + reason + ")" + detail));
            default -> end.<PodState>map(ContainerEnd::broken).orElseGet(PodState::starting);
        };
    }

    /** Whether the node could not read the pod's Secret yet, as while the API server restarts; it tries again by itself. */
    private static boolean awaitsApi(ContainerStateWaiting waiting) {
        return Optional.ofNullable(waiting.getMessage())
                .filter(message -> API_SILENT.matcher(message).lookingAt())
                .isPresent();
    }

    /** For what the container waits, in the node's word. */
    static Optional<String> waiting(Pod pod) {
        return SandboxContainer.containerStatus(pod)
                .map(container -> container.getState().getWaiting())
                .map(ContainerStateWaiting::getReason);
    }

    private static PodState running(Pod pod, PodStatus status, ContainerStatus container) {
        return silent(status)
                ? new Broken(
                        Reason.NODE_LOST,
                        "Node " + pod.getSpec().getNodeName() + " does not answer; if it stays silent, the operator"
                                + " starts the sandbox on another node")
                : sinceClaim(pod, status, container);
    }

    private static Running sinceClaim(Pod pod, PodStatus status, ContainerStatus container) {
        return endedBeforeClaim(pod, container)
                ? new Running(status.getPodIP(), 0, Optional.empty())
                : new Running(
                        status.getPodIP(),
                        Optional.ofNullable(container.getRestartCount()).orElse(0),
                        ContainerEnd.latest(pod, container));
    }

    /** Whether the container runs since before the pod's claim, so that earlier ones of the seat are no matter of the sandbox. */
    static boolean endedBeforeClaim(Pod pod, ContainerStatus container) {
        Optional<Instant> since = Optional.ofNullable(container.getState())
                .map(ContainerState::getRunning)
                .map(ContainerStateRunning::getStartedAt)
                .map(Instant::parse);
        return ClaimedPod.claimedAt(pod)
                .filter(claimed ->
                        since.filter(running -> !running.isAfter(claimed)).isPresent())
                .isPresent();
    }

    /**
     * The sandbox's container has no probes but that of a seat's start, so that it is ready while it runs. If a pod whose
     * containers are all ready is called unready nevertheless, it was the control plane, which has not heard from the node.
     */
    static boolean silent(PodStatus status) {
        List<ContainerStatus> containers = status.getContainerStatuses();
        return !containers.isEmpty()
                && containers.stream().allMatch(container -> Boolean.TRUE.equals(container.getReady()))
                && condition(status, "Ready")
                        .filter(ready -> "False".equals(ready.getStatus()))
                        .isPresent();
    }

    private static PodState scheduling(PodStatus status) {
        return condition(status, "PodScheduled")
                .filter(scheduled -> "Unschedulable".equals(scheduled.getReason()))
                .<PodState>map(scheduled -> new Starting(
                        Reason.UNSCHEDULABLE,
                        "No node can take the pod: "
                                + ForeignText.line(
                                        Optional.ofNullable(scheduled.getMessage())
                                                .orElse("no reason was given"),
                                        MAX_CHARS)))
                .orElseGet(PodState::starting);
    }

    private static Starting starting() {
        return new Starting(Reason.STARTING, "The pod was created; its container is starting");
    }

    private static Optional<PodCondition> condition(PodStatus status, String type) {
        return status.getConditions().stream()
                .filter(condition -> type.equals(condition.getType()))
                .findFirst();
    }
}
