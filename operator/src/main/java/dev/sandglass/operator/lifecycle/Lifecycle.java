package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.SpecHash;
import dev.sandglass.operator.lifecycle.Decision.Delete;
import dev.sandglass.operator.lifecycle.Decision.Keep;
import dev.sandglass.operator.lifecycle.Decision.Leave;
import dev.sandglass.operator.lifecycle.Decision.Replace;
import dev.sandglass.operator.lifecycle.Decision.Resume;
import dev.sandglass.operator.lifecycle.Decision.Run;
import dev.sandglass.operator.lifecycle.Decision.Sleep;
import dev.sandglass.operator.lifecycle.Decision.Suspend;
import dev.sandglass.operator.lifecycle.Decision.Wait;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Decides what to do with a sandbox. The number of the next incarnation always follows from the recorded one, so that
 * an operator that dies half-way does the same again and finds it done.
 */
public final class Lifecycle {

    /** A pod that lived less is not replaced before {@link #RESTART_DELAY} has passed, lest pods churn. */
    static final Duration SHORT_LIFE = Duration.ofMinutes(1);

    static final Duration RESTART_DELAY = Duration.ofSeconds(30);

    /** Troubles of pods in which no code ever ran. */
    static final Set<Reason> NEVER_RAN =
            EnumSet.of(Reason.IMAGE_PULL_FAILED, Reason.IMAGE_UNUSABLE, Reason.UNSCHEDULABLE);

    private Lifecycle() {}

    /** The one thing to do now. */
    public static Decision decide(Observed seen, Deadlines deadlines) {
        if (seen.sandbox().isMarkedForDeletion()) {
            // A finalizer may hold it for ever, and then no deadline would end the pod.
            return seen.livePod().isPresent() ? suspend(Reason.REQUESTED, seen) : new Leave();
        }
        if (seen.sandbox().wanted().suspended()) {
            return whileNotWanted(seen, deadlines);
        }
        return seen.status().holds(ConditionType.SUSPENDED)
                ? whileSuspended(seen, deadlines)
                : whileWanted(seen, deadlines);
    }

    private static Decision whileNotWanted(Observed seen, Deadlines deadlines) {
        boolean done = seen.livePod().isEmpty()
                && seen.status().holds(ConditionType.SUSPENDED)
                && seen.status().reason(ConditionType.SUSPENDED).equals(Optional.of(Reason.REQUESTED));
        return done ? retain(seen, deadlines) : suspend(Reason.REQUESTED, seen);
    }

    private static Decision whileSuspended(Observed seen, Deadlines deadlines) {
        Reason cause = seen.status().reason(ConditionType.SUSPENDED).orElse(Reason.REQUESTED);
        if (cause == Reason.REQUESTED || usedSince(suspendedAt(seen), seen.activity()) || seen.isWoken()) {
            return seen.refusal().isPresent()
                    ? new Wait(Optional.empty())
                    : new Resume(seen.recordedIncarnation(), seen.recordedIncarnation() + 1);
        }
        return seen.livePod().isPresent() ? suspend(cause, seen) : retain(seen, deadlines);
    }

    private static Decision whileWanted(Observed seen, Deadlines deadlines) {
        int recorded = seen.recordedIncarnation();
        Optional<Pod> current = seen.pod().filter(pod -> Observed.incarnationOf(pod) >= Math.max(recorded, 1));
        if (current.isPresent()) {
            return withPod(current.get(), seen, deadlines);
        }
        if (seen.refusal().isPresent()) {
            return new Wait(Optional.empty());
        }
        return recorded == 0
                ? new Run(1, deadlines.firstReview(seen.now()))
                : over(recorded, seen, deadlines.dueOfGone(seen.status(), seen.activity(), seen.now()), ofGone(seen));
    }

    /** For a pod that is gone: what the status reported of its node before. */
    private static Optional<Decision.Cause> ofGone(Observed seen) {
        return seen.status()
                .reason(ConditionType.READY)
                .filter(told -> told == Reason.NODE_LOST)
                .map(told -> new Decision.Cause(told, "The pod is gone with its node, which did not answer"));
    }

    private static Decision withPod(Pod pod, Observed seen, Deadlines deadlines) {
        int incarnation = Observed.incarnationOf(pod);
        Optional<Reason> due = due(pod, seen, deadlines);
        return switch (PodState.of(pod)) {
            case PodState.Leaving leaving -> over(incarnation, seen, due, leaving.cause());
            case PodState.Ended ended when ended.reason() == Reason.MAX_LIFETIME -> suspend(Reason.MAX_LIFETIME, seen);
            case PodState.Ended ended -> {
                Instant restart = ended.at().plus(RESTART_DELAY);
                boolean soon = ended.at().isBefore(Deadlines.startOf(pod).plus(SHORT_LIFE))
                        && seen.now().isBefore(restart);
                yield soon
                        ? new Wait(Optional.of(restart))
                        : over(
                                incarnation,
                                seen,
                                due,
                                Optional.of(new Decision.Cause(ended.reason(), ended.message())));
            }
            case PodState.Starting starting -> runOrRetry(starting.reason(), pod, seen, deadlines);
            case PodState.Running running -> run(pod, seen, deadlines);
            case PodState.Broken broken -> runOrRetry(broken.reason(), pod, seen, deadlines);
        };
    }

    /** A pod that cannot come up has nothing to lose: an edit of what holds it up applies at once. */
    private static Decision runOrRetry(Reason trouble, Pod pod, Observed seen, Deadlines deadlines) {
        boolean edited = NEVER_RAN.contains(trouble) && SpecHash.outdated(pod, seen.sandbox());
        int incarnation = Observed.incarnationOf(pod);
        return edited && seen.refusal().isEmpty()
                ? new Replace(incarnation, incarnation + 1, Optional.empty())
                : run(pod, seen, deadlines);
    }

    private static Decision run(Pod pod, Observed seen, Deadlines deadlines) {
        Instant old = deadlines.oldAt(pod);
        Instant review = mayBeIdle(pod, seen) ? earlier(old, deadlines.idleAt(pod, seen.activity())) : old;
        Instant next = StartBlocker.nextLook(pod, seen.now())
                .map(look -> earlier(look, review))
                .orElse(review);
        return due(pod, seen, deadlines)
                .map(cause -> suspend(cause, seen))
                .or(() -> forOtherSecrets(pod, seen))
                .orElseGet(() -> new Run(Observed.incarnationOf(pod), next));
    }

    /**
     * A pod gets no further volume, so that a server with a value from a Secret that it lacks could not start in it. A
     * refusal says nothing of which Secrets there are to be, and then the pod stays.
     */
    private static Optional<Decision> forOtherSecrets(Pod pod, Observed seen) {
        int incarnation = Observed.incarnationOf(pod);
        return seen.refusal().isPresent() || seen.secrets().areIn(pod)
                ? Optional.empty()
                : Optional.of(new Replace(
                        incarnation,
                        incarnation + 1,
                        Optional.of(new Decision.Cause(
                                Reason.STARTING,
                                "The tool server's values come from other entries of Secrets since it was edited"))));
    }

    private static Optional<Reason> due(Pod pod, Observed seen, Deadlines deadlines) {
        return deadlines
                .due(pod, seen.activity(), seen.now())
                .filter(reason -> reason != Reason.IDLE || mayBeIdle(pod, seen));
    }

    /**
     * Callers cannot have used a pod that never ran, and it holds no processor: it is not idle, but grows old. The gateway's
     * record of a use counts more than what the pod says of itself, in which code may have a hand.
     */
    private static boolean mayBeIdle(Pod pod, Observed seen) {
        return hasRun(pod, seen.status()) || usedSince(Deadlines.startOf(pod), seen.activity());
    }

    /**
     * Whether code may have run in a pod, also before the status says so.
     *
     * @param told the status that there is
     */
    static boolean hasRun(Pod pod, SandboxStatus told) {
        return switch (PodState.of(pod)) {
            case PodState.Running running -> true;
            case PodState.Broken broken when !NEVER_RAN.contains(broken.reason()) -> true;
            default -> Loss.hasRun(pod, told);
        };
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    /**
     * What follows a pod that is over: the next, unless its own time had come. That is so if an operator ended it and died
     * before it could say so, or if none ran when the time came.
     */
    private static Decision over(int former, Observed seen, Optional<Reason> due, Optional<Decision.Cause> cause) {
        if (cause.filter(why -> why.reason() == Reason.MAX_LIFETIME).isPresent()) {
            return suspend(Reason.MAX_LIFETIME, seen);
        }
        if (seen.refusal().isPresent()) {
            return new Wait(Optional.empty());
        }
        return due.map(reason -> suspend(reason, seen)).orElseGet(() -> new Replace(former, former + 1, cause));
    }

    private static Decision suspend(Reason cause, Observed seen) {
        int newest = seen.pod().map(Observed::incarnationOf).orElse(0);
        return new Suspend(cause, Math.max(newest, seen.recordedIncarnation()));
    }

    private static Decision retain(Observed seen, Deadlines deadlines) {
        if (seen.isNeverForgotten()) {
            return new Keep();
        }
        Instant end = deadlines.forgottenAt(suspendedAt(seen));
        return seen.now().isBefore(end) ? new Sleep(end) : new Delete();
    }

    private static boolean usedSince(Instant time, Optional<Lease> activity) {
        return activity.flatMap(Deadlines::renewedAt)
                .filter(renewed -> renewed.isAfter(time))
                .isPresent();
    }

    private static Instant suspendedAt(Observed seen) {
        String suspendedAt = seen.status().suspendedAt();
        return suspendedAt == null ? seen.now() : Instant.parse(suspendedAt);
    }
}
