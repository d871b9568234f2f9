package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.lifecycle.Decision.Replace;
import dev.sandglass.operator.lifecycle.Decision.Suspend;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * What earlier runs left in a sandbox's memory and is gone, so that the first runs in the next pod report it. The debt
 * stands in the status until a pod runs that can report it: the first attempt at that pod may fail.
 */
public final class Loss {

    /** Of a pod that is being deleted, or gone, no more may be known than that it was deleted. */
    static final String DELETED = "Deleted";

    private static final Set<Reason> ENDS =
            EnumSet.of(Reason.EVICTED, Reason.NODE_LOST, Reason.CRASHED, Reason.OOM_KILLED);

    private Loss() {}

    /**
     * Why something is lost, in one word; empty if nothing is, or if it has been reported.
     *
     * @param seen what there was before the decision is carried out
     */
    public static Optional<String> of(Observed seen, Decision decision) {
        boolean over = decision instanceof Suspend
                || decision instanceof Replace
                || seen.livePod().isEmpty();
        return owed(seen).or(() -> over && ran(seen) ? Optional.of(word(seen, decision)) : Optional.empty());
    }

    /** What a former pod left to tell, by the status, or by the pod that was made after it and has not run. */
    private static Optional<String> owed(Observed seen) {
        return Optional.ofNullable(seen.status().lost())
                .filter(word -> !isTold(seen.status()))
                .or(() -> seen.pod().filter(pod -> !hasRun(pod, seen.status())).flatMap(SandboxContainer::saysLost));
    }

    /**
     * Whether the word in the status is no debt any more, but the one that the gateway tells the pod that runs: a pod that was
     * a seat has it from nowhere else.
     */
    private static boolean isTold(SandboxStatus status) {
        return status.seat() != null && status.startedAt() != null;
    }

    /** Whether code may have run in this pod: none can before the status has the pod's address. */
    static boolean hasRun(Pod pod, SandboxStatus status) {
        return status.startedAt() != null && pod.getMetadata().getName().equals(status.podName()) && !isUnusable(pod);
    }

    private static boolean ran(Observed seen) {
        return seen.status().startedAt() != null
                && seen.pod().filter(Loss::isUnusable).isEmpty();
    }

    /** A container whose image cannot be a sandbox is called running for a moment. */
    private static boolean isUnusable(Pod pod) {
        return PodState.of(pod) instanceof PodState.Broken broken && Lifecycle.NEVER_RAN.contains(broken.reason());
    }

    private static String word(Observed seen, Decision decision) {
        return cause(decision)
                .or(() -> seen.status().reason(ConditionType.READY).filter(ENDS::contains))
                .map(Reason::value)
                .orElse(DELETED);
    }

    private static Optional<Reason> cause(Decision decision) {
        return switch (decision) {
            case Suspend suspend -> Optional.of(suspend.cause());
            case Replace replace -> replace.cause().map(Decision.Cause::reason);
            default -> Optional.empty();
        };
    }
}
