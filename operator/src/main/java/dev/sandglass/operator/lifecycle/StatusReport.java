package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Writes up what was decided and seen as the sandbox's status. Equal input gives an equal status, hence no write. */
public final class StatusReport {

    /** How long a first start goes on without a word; creation times are whole seconds. */
    static final Duration UNTOLD = Duration.ofSeconds(2);

    /** How long a new sandbox waits for a Secret or a claim without a word: it is often made right behind the sandbox. */
    static final Duration UNTOLD_VOLUME = Duration.ofSeconds(5);

    private static final String WARM = "Warm: pool ";

    private StatusReport() {}

    /**
     * The status to publish.
     *
     * @param seen what there is after the decision was carried out
     * @param lost see {@link Loss#of}
     */
    public static SandboxStatus of(Observed seen, Decision decision, Optional<String> lost, Deadlines deadlines) {
        return switch (decision) {
            case Decision.Suspend suspend -> suspended(seen, suspend.cause(), suspend.incarnation(), lost, deadlines);
            case Decision.Sleep sleep -> asleep(seen, lost, deadlines);
            case Decision.Keep keep -> asleep(seen, lost, deadlines);
            case Decision.Run run -> wanted(seen, Optional.empty(), lost, deadlines);
            case Decision.Resume resume -> wanted(seen, Optional.empty(), lost, deadlines);
            case Decision.Replace replace -> wanted(seen, replace.cause(), lost, deadlines);
            case Decision.Wait wait -> wanted(seen, Optional.empty(), lost, deadlines);
            case Decision.Delete delete -> seen.status();
            case Decision.Leave leave -> seen.status();
        };
    }

    /**
     * Until when a status need not be told, because all that it says is that the first start is on its way, or waits for
     * what may be made this moment: most starts are over by then, and are told in one write. Empty if it is to be told now.
     *
     * @param status of these observations
     */
    public static Optional<Instant> mayWait(Observed seen, SandboxStatus status) {
        Optional<Reason> ready = status.reason(ConditionType.READY);
        if (ready.equals(Optional.of(Reason.VOLUME_MISSING))) {
            return seen.livePod().isPresent() ? Optional.empty() : behind(seen.sandbox(), UNTOLD_VOLUME, seen.now());
        }
        boolean first = seen.sandbox().getStatus() == null && ready.equals(Optional.of(Reason.STARTING));
        return seen.livePod()
                .filter(pod -> first && Observed.incarnationOf(pod) == 1)
                .flatMap(pod -> behind(pod, UNTOLD, seen.now()));
    }

    /** So long behind its creation; empty if that is over. */
    private static Optional<Instant> behind(HasMetadata made, Duration untold, Instant now) {
        return Optional.ofNullable(made.getMetadata().getCreationTimestamp())
                .map(Instant::parse)
                // Its time is the API server's; a clock that differs much from it must not delay anything.
                .filter(created -> now.isAfter(created.minus(UNTOLD)))
                .map(created -> created.plus(untold))
                .filter(now::isBefore);
    }

    private static SandboxStatus asleep(Observed seen, Optional<String> lost, Deadlines deadlines) {
        Reason cause = seen.status().reason(ConditionType.SUSPENDED).orElse(Reason.REQUESTED);
        return suspended(seen, cause, seen.recordedIncarnation(), lost, deadlines);
    }

    private static SandboxStatus wanted(
            Observed seen, Optional<Decision.Cause> replaced, Optional<String> lost, Deadlines deadlines) {
        Optional<Pod> pod = seen.livePod();
        Optional<PodState.Running> running =
                pod.map(PodState::of).filter(PodState.Running.class::isInstance).map(PodState.Running.class::cast);
        boolean hasRun =
                pod.filter(found -> Lifecycle.hasRun(found, seen.status())).isPresent();
        return new SandboxStatus(
                seen.sandbox().getMetadata().getGeneration(),
                Conditions.of(seen, replaced, deadlines),
                running.map(PodState.Running::address).orElse(null),
                pod.map(found -> found.getMetadata().getName()).orElse(null),
                // A pod that was refused has no number; the next attempt gets it.
                pod.map(Observed::incarnationOf)
                        .or(() -> numbered(seen.recordedIncarnation()))
                        .orElse(null),
                // Not before the container runs: the node's start time alone would cost a write of its own.
                pod.filter(found -> hasRun)
                        .map(Deadlines::startOf)
                        .map(Instant::toString)
                        .orElse(null),
                null,
                pod.filter(found -> hasRun)
                        .map(deadlines::oldAt)
                        .map(Instant::toString)
                        .orElse(null),
                restarts(pod),
                running.flatMap(PodState.Running::lastEnd)
                        .map(end -> end.reason().value())
                        .orElse(null),
                // A pod that runs reports it by itself, unless it was a seat: then the gateway tells it.
                running.isPresent()
                        ? pod.filter(found -> ClaimedPod.seat(found).isPresent())
                                .flatMap(SandboxContainer::saysLost)
                                .orElse(null)
                        : lost.orElse(null),
                pod.flatMap(ClaimedPod::seat).orElse(null),
                pod.flatMap(StatusReport::start).orElse(null));
    }

    /** How a pod was started; empty where the namespace had no pool. */
    private static Optional<String> start(Pod pod) {
        return ClaimedPod.pool(pod).map(pool -> WARM + pool).or(() -> SandboxPod.whyCold(pod)
                .map(why -> "Cold: " + why));
    }

    private static SandboxStatus suspended(
            Observed seen, Reason cause, int incarnation, Optional<String> lost, Deadlines deadlines) {
        String since = Optional.ofNullable(seen.status().suspendedAt())
                .orElseGet(
                        () -> Deadlines.asleepFrom(seen.activity(), seen.now()).toString());
        return new SandboxStatus(
                seen.sandbox().getMetadata().getGeneration(),
                Conditions.suspended(seen, cause, since),
                null,
                null,
                numbered(incarnation).orElse(null),
                null,
                since,
                seen.isNeverForgotten()
                        ? null
                        : deadlines.forgottenAt(Instant.parse(since)).toString(),
                null,
                null,
                lost.orElse(null));
    }

    private static @Nullable Integer restarts(Optional<Pod> pod) {
        return pod.flatMap(found -> SandboxContainer.containerStatus(found)
                        .filter(container -> !PodState.endedBeforeClaim(found, container))
                        .map(ContainerStatus::getRestartCount)
                        .filter(restarts -> restarts > 0))
                .orElse(null);
    }

    private static Optional<Integer> numbered(int incarnation) {
        return incarnation == 0 ? Optional.empty() : Optional.of(incarnation);
    }
}
