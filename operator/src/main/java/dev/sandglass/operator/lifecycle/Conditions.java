package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.SpecHash;
import dev.sandglass.operator.child.WorkspaceClaim;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Says in conditions what became of a sandbox that is wanted, or why it is suspended. */
public final class Conditions {

    private static final String FRESH_POD = "; a fresh pod is starting";
    private static final String NEVER_STARTED = "The sandbox did not start within its maximum lifetime (";
    private static final String TRY_AGAIN = "); the next use tries again";

    private Conditions() {}

    /**
     * The conditions of a sandbox that is wanted, in the light of what was seen after acting.
     *
     * @param replaced why the former pod ended, if it was replaced just now
     * @param own the sandbox's deadlines
     */
    static List<Condition> of(Observed seen, Optional<Decision.Cause> replaced, Deadlines own) {
        List<Condition> conditions = new ArrayList<>();
        conditions.add(ready(seen, replaced, own));
        network(seen).ifPresent(conditions::add);
        if (seen.status().condition(ConditionType.SUSPENDED).isPresent()) {
            conditions.add(
                    condition(seen, ConditionType.SUSPENDED, "False", Reason.STARTING, "The sandbox was resumed"));
        }
        return List.copyOf(conditions);
    }

    /**
     * The conditions of a sandbox whose pod the operator ends.
     *
     * @param since when it was, as the status has it
     */
    static List<Condition> suspended(Observed seen, Reason cause, String since) {
        String message =
                switch (cause) {
                    case IDLE ->
                        "The sandbox was not used for its idle timeout; the next use starts it" + orBy(seen, since);
                    case MAX_LIFETIME ->
                        neverStarted(seen)
                                        .orElse("The pod reached its maximum lifetime; the next use starts a fresh one")
                                + orBy(seen, since);
                    default ->
                        seen.sandbox().isMarkedForDeletion()
                                ? "The sandbox is being deleted, so its pod ended; finalizers keep the resource: "
                                        + String.join(", ", seen.sandbox().getFinalizers())
                                : "spec.suspended is true; set it to false to start the sandbox";
                };
        String told = message + ofFiles(seen);
        List<Condition> conditions = new ArrayList<>();
        conditions.add(condition(seen, ConditionType.READY, "False", cause, told));
        network(seen).filter(policies -> wasWanted(seen)).ifPresent(conditions::add);
        conditions.add(condition(seen, ConditionType.SUSPENDED, "True", cause, told));
        return List.copyOf(conditions);
    }

    /** A user who believes that the files stay might delete the suspended sandbox. */
    private static String ofFiles(Observed seen) {
        return seen.workspace()
                .flatMap(claim -> WorkspaceClaim.notKept(seen.sandbox(), claim))
                .map(problem -> ". " + problem)
                .orElse("");
    }

    /** What kept the sandbox from starting until its pod was too old, by the last report; empty if it did start. */
    private static Optional<String> neverStarted(Observed seen) {
        SandboxStatus told = seen.status();
        if (told.holds(ConditionType.SUSPENDED)) {
            return told.condition(ConditionType.SUSPENDED)
                    .map(Condition::getMessage)
                    .filter(message -> message.startsWith(NEVER_STARTED) && message.contains(TRY_AGAIN))
                    .map(message -> message.substring(0, message.lastIndexOf(TRY_AGAIN)) + TRY_AGAIN);
        }
        return told.condition(ConditionType.READY)
                .filter(ready -> told.podName() != null && told.startedAt() == null)
                .map(ready -> NEVER_STARTED + ready.getMessage() + TRY_AGAIN);
    }

    /** Whether there was a pod, or the attempt to make one: what a namespace has for others is no news of this one. */
    private static boolean wasWanted(Observed seen) {
        return seen.recordedIncarnation() > 0
                || seen.status().condition(ConditionType.NETWORK_READY).isPresent();
    }

    private static String orBy(Observed seen, String since) {
        ObjectMeta meta = seen.sandbox().getMetadata();
        return ", or: kubectl annotate sandboxes.sandglass.dev %s --namespace %s --overwrite %s=%s"
                .formatted(meta.getName(), meta.getNamespace(), SandboxLabels.WAKE, since);
    }

    /**
     * The conditions after an exception: what was known stays, but a sandbox that is not Ready says why. If its
     * policies are not there, one that is wanted says why, and the other one says nothing of them.
     */
    public static List<Condition> failed(Observed seen, String message) {
        List<Condition> conditions = new ArrayList<>();
        conditions.add(seen.status()
                .condition(ConditionType.READY)
                .filter(ready -> "True".equals(ready.getStatus()))
                .orElseGet(() -> condition(seen, ConditionType.READY, "Unknown", Reason.OPERATOR_ERROR, message)));
        Optional<Condition> network = seen.networkReady()
                ? seen.status().condition(ConditionType.NETWORK_READY)
                : Optional.of(noNetwork(seen, Reason.OPERATOR_ERROR, message))
                        .filter(told -> !seen.sandbox().wanted().suspended());
        network.ifPresent(conditions::add);
        seen.status().condition(ConditionType.SUSPENDED).ifPresent(conditions::add);
        return List.copyOf(conditions);
    }

    private static Condition ready(Observed seen, Optional<Decision.Cause> replaced, Deadlines own) {
        Optional<Pod> pod = seen.livePod();
        if (pod.isEmpty()) {
            return seen.refusal()
                    .map(why -> notReady(seen, why.reason(), why.message()))
                    .or(() -> replaced.map(cause -> replaced(seen, cause)))
                    .orElseGet(() -> notReady(
                            seen, Reason.STARTING, "The previous pod is gone; the operator creates a new one"));
        }
        return switch (PodState.of(pod.get())) {
            case PodState.Leaving leaving -> throw new IllegalStateException("A live pod is not leaving");
            case PodState.Ended ended -> over(seen, ended);
            case PodState.Broken broken -> notReady(seen, broken.reason(), broken.message() + noneAfter(seen));
            case PodState.Starting starting
            when starting.reason() == Reason.STARTING ->
                seen.blocker()
                        .map(blocker -> notReady(seen, blocker.reason(), blocker.message()))
                        .or(() -> replaced.map(cause -> replaced(seen, cause)))
                        .or(() -> stillReplaced(seen))
                        .orElseGet(() -> notReady(seen, starting.reason(), starting.message()));
            case PodState.Starting starting -> notReady(seen, starting.reason(), starting.message() + noneAfter(seen));
            case PodState.Running running -> running(seen, pod.get(), running, own);
        };
    }

    /** That no pod may follow comes first: a user has to repair it. */
    private static Condition over(Observed seen, PodState.Ended ended) {
        return seen.refusal()
                .map(why -> notReady(seen, why.reason(), why.message() + "; the previous pod: " + ended.message()))
                .orElseGet(() -> notReady(seen, ended.reason(), ended.message()));
    }

    private static String noneAfter(Observed seen) {
        return seen.refusal()
                .map(why -> "; the operator would not create a new pod: " + why.message())
                .orElse("");
    }

    private static Condition replaced(Observed seen, Decision.Cause cause) {
        return notReady(seen, cause.reason(), cause.message() + FRESH_POD);
    }

    /** Reports why the former pod ended until the fresh one runs, so that readers see it. */
    private static Optional<Condition> stillReplaced(Observed seen) {
        return seen.status()
                .condition(ConditionType.READY)
                .filter(told ->
                        "False".equals(told.getStatus()) && told.getMessage().endsWith(FRESH_POD))
                .flatMap(told -> Reason.of(told.getReason()).map(reason -> notReady(seen, reason, told.getMessage())));
    }

    private static Condition running(Observed seen, Pod pod, PodState.Running running, Deadlines own) {
        String workspace = seen.workspace()
                .flatMap(claim -> WorkspaceClaim.shortfall(seen.sandbox(), claim))
                .map(shortfall -> "; " + shortfall)
                .orElse("");
        String history = running.restarts() == 0
                ? workspace
                : workspace + "; restarts of its container: " + running.restarts()
                        + running.lastEnd()
                                .map(end -> ", the last because " + end.cause() + " ("
                                        + end.reason().value() + ")")
                                .orElse("");
        if (SpecHash.outdated(pod, seen.sandbox())
                || own.awaitsLongerLife(pod, seen.sandbox().wanted())) {
            String pending = seen.refusal()
                    .map(why -> ", and would then fail: " + why.message())
                    .orElse("");
            return condition(
                    seen,
                    ConditionType.READY,
                    "True",
                    Reason.UPDATE_PENDING,
                    "The sandbox runs; the edited spec applies at its next start" + pending + history);
        }
        Reason reason = running.restarts() == 0 ? Reason.RUNNING : Reason.RESTARTED;
        String next = seen.refusal()
                .map(why -> "; its next start would fail: " + why.message())
                .orElse("");
        return condition(seen, ConditionType.READY, "True", reason, "The sandbox runs" + next + history);
    }

    private static Condition notReady(Observed seen, Reason reason, String message) {
        return condition(seen, ConditionType.READY, "False", reason, message);
    }

    /** Nothing, if the policies are not in place and the operator did not try: the former report is outdated. */
    private static Optional<Condition> network(Observed seen) {
        if (!seen.networkReady()) {
            // Rules of our own refuse before anything is made, and Ready reports it; a quota does while the policies
            // are, and the API server refuses pods only after that: then it is a policy of another author for
            // which none is made.
            return seen.refusal()
                    .filter(why -> why.reason() == Reason.QUOTA_EXCEEDED || why.reason() == Reason.POD_REFUSED)
                    .map(why -> noNetwork(seen, why.reason(), why.message()));
        }
        return Optional.of(
                seen.ignoredDomains()
                        .map(why -> network(seen, Reason.DOMAINS_IGNORED, why))
                        .orElseGet(
                                () -> network(
                                        seen,
                                        Reason.POLICIES_APPLIED,
                                        "The namespace's default-deny policy and the policy that grants what the sandbox needs are in place")));
    }

    private static Condition noNetwork(Observed seen, Reason reason, String message) {
        return condition(seen, ConditionType.NETWORK_READY, "False", reason, message);
    }

    private static Condition network(Observed seen, Reason reason, String message) {
        return condition(seen, ConditionType.NETWORK_READY, "True", reason, message);
    }

    private static Condition condition(
            Observed seen, ConditionType type, String status, Reason reason, String message) {
        return new Saying(status, reason.value(), message)
                .asCondition(type.value(), seen.status().condition(type), seen.sandbox(), seen.now());
    }
}
