package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Reason;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/**
 * How the container ended the last time.
 *
 * @param cause one clause, to be part of a sentence
 */
record ContainerEnd(Reason reason, String cause) {

    /** Most characters of the container's own last words that are repeated. */
    private static final int MAX_LAST_WORDS = 300;

    /** The latest end, be it the present state or the one before. */
    static Optional<ContainerEnd> latest(Pod pod, ContainerStatus container) {
        return terminated(container.getState())
                .or(() -> terminated(container.getLastState()))
                .map(end -> of(pod, end));
    }

    PodState.Broken broken() {
        String next = reason == Reason.IMAGE_UNUSABLE ? "" : "; a new one starts, and variables are lost";
        return new PodState.Broken(reason, capitalised(cause) + next);
    }

    static ContainerEnd of(Pod pod, ContainerStateTerminated end) {
        return ImageFault.of(pod, end).orElseGet(() -> noFaultOfTheImage(pod, end));
    }

    private static ContainerEnd noFaultOfTheImage(Pod pod, ContainerStateTerminated end) {
        if ("OOMKilled".equals(end.getReason())) {
            return new ContainerEnd(
                    Reason.OOM_KILLED,
                    "the container reached its memory limit of " + memoryLimit(pod) + " (spec.memory)");
        }
        // The end of a log tells more than its beginning.
        String words = ForeignText.end(Optional.ofNullable(end.getMessage()).orElse(""), MAX_LAST_WORDS);
        return new ContainerEnd(
                Reason.CRASHED,
                "the container ended with exit code " + end.getExitCode()
                        + (words.isEmpty() ? "" : ", the end of its log: " + words));
    }

    private static Optional<ContainerStateTerminated> terminated(ContainerState state) {
        return Optional.ofNullable(state).map(ContainerState::getTerminated);
    }

    private static String memoryLimit(Pod pod) {
        return SandboxContainer.container(pod)
                .map(container -> container.getResources().getLimits().get("memory"))
                .map(Object::toString)
                .orElse("unknown size");
    }

    private static String capitalised(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }
}
