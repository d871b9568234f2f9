package dev.sandglass.operator.pod;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The container in which the code runs, found in pods that are there. */
public final class SandboxContainer {

    /** Its name. */
    public static final String NAME = "sandbox";

    /**
     * The kubelet mounts a file of the node there, with mode 0666 and no limit of its size. Only root can enter the folder,
     * so the code reaches it by no path; the supervisor refuses to start where it can. Nothing is written to it: last words
     * are the end of the log.
     */
    static final String TERMINATION_LOG = "/root/termination-log";

    private static final String REPLACED = "SANDGLASS_REPLACED";

    /** What the supervisor takes for one, and refuses to start with anything else. */
    private static final Predicate<String> WORD =
            Pattern.compile("[A-Za-z]{1,63}").asMatchPredicate();

    private SandboxContainer() {}

    /**
     * The same pod in the place of one that ended, so that who used that one hears of it.
     *
     * @param why one word, the supervisor's to explain
     */
    public static Pod after(Pod desired, String why) {
        return new PodBuilder(desired)
                .editMetadata()
                .addToAnnotations(SandboxLabels.LOST, why)
                .endMetadata()
                .editSpec()
                .editFirstContainer()
                .addNewEnv()
                .withName(REPLACED)
                .withValue(why)
                .endEnv()
                .endContainer()
                .endSpec()
                .build();
    }

    /**
     * The container of the sandbox. Others that a webhook put into the pod may stand before it, and its status goes by name
     * as well.
     */
    public static Optional<Container> container(Pod pod) {
        return Optional.ofNullable(pod.getSpec()).stream()
                .flatMap(spec -> spec.getContainers().stream())
                .filter(container -> NAME.equals(container.getName()))
                .findFirst();
    }

    /** Whether code cannot write the container's last words, as it could in pods of earlier versions. */
    public static boolean hidesLastWords(Pod pod) {
        return container(pod)
                .filter(container -> TERMINATION_LOG.equals(container.getTerminationMessagePath()))
                .isPresent();
    }

    /** What the node says of {@linkplain #container that container}; empty if nothing yet. */
    public static Optional<ContainerStatus> containerStatus(Pod pod) {
        return Optional.ofNullable(pod.getStatus()).stream()
                .flatMap(status -> status.getContainerStatuses().stream())
                .filter(container -> NAME.equals(container.getName()))
                .findFirst();
    }

    /**
     * The word that a pod was made with in the place of one that ended; empty if it has nothing to tell. Whoever may edit
     * pods may annotate them, and the next pod gets this word: so one that is none does not count.
     */
    public static Optional<String> saysLost(Pod pod) {
        return Optional.ofNullable(pod.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(SandboxLabels.LOST))
                .filter(WORD);
    }
}
