package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Sandbox;
import dev.sandglass.operator.child.ClaimedPod;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Which of several pods of a sandbox counts: a claim whose answer was lost may be followed by another one. */
public final class PodChoice {

    /** By the claim, or by the start of a pod that was made for the sandbox. */
    public static final Comparator<Pod> OLDEST_FIRST = Comparator.comparing(Deadlines::startOf)
            .thenComparing(pod -> pod.getMetadata().getName());

    private PodChoice() {}

    /** The pod with the highest incarnation; of several the one that the status names, or else the oldest. */
    public static Optional<Pod> current(Sandbox sandbox, Collection<Pod> pods) {
        return pods.stream()
                .min(Comparator.comparingInt(Observed::incarnationOf)
                        .reversed()
                        .thenComparing(pod -> !isRecorded(sandbox, pod))
                        .thenComparing(OLDEST_FIRST));
    }

    /** Whether no other pod that the status may name counts more than this one. */
    public static boolean isCertain(Sandbox sandbox, Pod pod) {
        Integer recorded = sandbox.observed().incarnation();
        return recorded == null
                || Observed.incarnationOf(pod) > recorded
                || (Observed.incarnationOf(pod) == recorded && isRecorded(sandbox, pod));
    }

    private static boolean isRecorded(Sandbox sandbox, Pod pod) {
        return pod.getMetadata().getName().equals(sandbox.observed().podName());
    }

    /**
     * The pods to end beside the one that counts. One that was made for an earlier incarnation is none of them: it is on its way
     * out, and the cache may be behind.
     */
    public static List<Pod> strays(Pod current, Collection<Pod> pods) {
        return pods.stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .filter(pod -> !Objects.equals(
                        pod.getMetadata().getUid(), current.getMetadata().getUid()))
                .filter(pod -> Observed.incarnationOf(pod) == Observed.incarnationOf(current)
                        || ClaimedPod.seat(pod).isPresent())
                .toList();
    }
}
