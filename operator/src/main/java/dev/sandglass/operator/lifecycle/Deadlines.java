package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.TimeLimit;
import dev.sandglass.operator.child.ClaimedPod;
import dev.sandglass.operator.pod.SandboxContainer;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;

/**
 * How long things last: the installation's values, or those of one sandbox.
 *
 * @param idleTimeout a pod that was unused for so long is suspended
 * @param maxLifetime age at which a pod is suspended
 * @param retention a sandbox that was suspended for so long is deleted
 */
public record Deadlines(Duration idleTimeout, Duration maxLifetime, Duration retention) {

    public Deadlines {
        for (Duration duration : new Duration[] {idleTimeout, maxLifetime, retention}) {
            if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new IllegalArgumentException("A deadline of at least one second is needed, not " + duration);
            }
        }
    }

    /** These, but for what a sandbox has of its own. */
    public Deadlines of(SandboxSpec spec) {
        return new Deadlines(
                TimeLimit.IDLE_TIMEOUT.in(spec).orElse(idleTimeout),
                TimeLimit.MAX_LIFETIME.in(spec).orElse(maxLifetime),
                TimeLimit.RETENTION.in(spec).orElse(retention));
    }

    /** When a pod's maximum lifetime ends it: the one it was made with, or a shorter one that was set since. */
    Instant oldAt(Pod pod) {
        Duration age =
                madeFor(pod).filter(made -> made.compareTo(maxLifetime) < 0).orElse(maxLifetime);
        return startOf(pod).plus(age);
    }

    /**
     * The age at which a pod's node shall end it, for a shorter maximum lifetime than it has; empty if it has no longer one.
     * Kubernetes lets it shrink only. It counts from the pod's start, a lifetime from the claim of a pod that was a seat.
     */
    public Optional<Duration> shortened(Pod pod) {
        return madeFor(pod)
                .filter(made -> made.compareTo(maxLifetime) > 0)
                .map(made -> maxLifetime.plus(ClaimedPod.ageAtClaim(pod)));
    }

    /**
     * Whether the sandbox asks for more than its pod can be given, by what it says or by saying no more what it said.
     * That the installation's value has grown is no edit of the sandbox.
     */
    boolean awaitsLongerLife(Pod pod, SandboxSpec spec) {
        boolean edited = TimeLimit.MAX_LIFETIME.in(spec).isPresent() || isOwn(pod);
        return edited
                && madeFor(pod).filter(made -> made.compareTo(maxLifetime) < 0).isPresent();
    }

    /** Whether the pod's maximum lifetime is what its sandbox asked for, and no shorter one of the installation. */
    private static boolean isOwn(Pod pod) {
        String own = Optional.ofNullable(pod.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(SandboxLabels.OWN_MAX_LIFETIME))
                .orElse(null);
        return madeFor(pod)
                .filter(made -> Long.toString(made.toSeconds()).equals(own))
                .isPresent();
    }

    private static Optional<Duration> madeFor(Pod pod) {
        return Optional.ofNullable(pod.getSpec())
                .map(PodSpec::getActiveDeadlineSeconds)
                .map(Duration::ofSeconds)
                .map(age -> age.minus(ClaimedPod.ageAtClaim(pod)));
    }

    /**
     * When a pod is idle for too long. The last activity is the lease's renewal and the time it announced from there
     * on, so that a long run is not cut off when the gateway that renews the lease dies.
     */
    Instant idleAt(Pod pod, Optional<Lease> activity) {
        return idleAt(usableFrom(pod), activity);
    }

    /** The container may start long after its pod, as when its image was not to be had. A restart does not count. */
    private static Instant usableFrom(Pod pod) {
        Instant start = startOf(pod);
        return SandboxContainer.containerStatus(pod)
                .filter(container -> Objects.requireNonNullElse(container.getRestartCount(), 0) == 0)
                .map(ContainerStatus::getState)
                .map(ContainerState::getRunning)
                .map(ContainerStateRunning::getStartedAt)
                .map(Instant::parse)
                .filter(start::isBefore)
                .orElse(start);
    }

    private Instant idleAt(Instant start, Optional<Lease> activity) {
        Instant busyUntil = activity.flatMap(Deadlines::busyUntil).orElse(start);
        return (busyUntil.isAfter(start) ? busyUntil : start).plus(idleTimeout);
    }

    /** Why a pod's time is over, taking it for one that ran; empty if it is not. */
    Optional<Reason> due(Pod pod, Optional<Lease> activity, Instant now) {
        return due(oldAt(pod), idleAt(pod, activity), now);
    }

    /** The same of a pod that is gone, by what the status still tells of it. */
    Optional<Reason> dueOfGone(SandboxStatus told, Optional<Lease> activity, Instant now) {
        return Optional.ofNullable(told.startedAt()).map(Instant::parse).flatMap(start -> {
            Instant age = start.plus(maxLifetime);
            Instant old = Optional.ofNullable(told.expiresAt())
                    .map(Instant::parse)
                    .filter(age::isAfter)
                    .orElse(age);
            return due(old, idleAt(start, activity), now);
        });
    }

    private static Optional<Reason> due(Instant old, Instant idle, Instant now) {
        if (!now.isBefore(old)) {
            return Optional.of(Reason.MAX_LIFETIME);
        }
        return now.isBefore(idle) ? Optional.empty() : Optional.of(Reason.IDLE);
    }

    /** When to look after a pod that is made now. */
    public Instant firstReview(Instant now) {
        return now.plus(idleTimeout.compareTo(maxLifetime) < 0 ? idleTimeout : maxLifetime);
    }

    /**
     * From when on a use ends a sleep that begins now, in whole milliseconds: a moment after the last use that is known, if
     * the clock that wrote it is ahead of ours. Otherwise it would end the sleep at once, without a use.
     */
    static Instant asleepFrom(Optional<Lease> activity, Instant now) {
        Instant begin = now.truncatedTo(ChronoUnit.MILLIS);
        return activity.flatMap(Deadlines::renewedAt)
                .filter(begin::isBefore)
                .map(used -> used.truncatedTo(ChronoUnit.MILLIS).plusMillis(1))
                .orElse(begin);
    }

    /** When a suspended sandbox is deleted. */
    public Instant forgottenAt(Instant suspendedAt) {
        return suspendedAt.plus(retention);
    }

    static Optional<Instant> renewedAt(Lease lease) {
        return Optional.ofNullable(lease.getSpec()).map(LeaseSpec::getRenewTime).map(ZonedDateTime::toInstant);
    }

    private static Optional<Instant> busyUntil(Lease lease) {
        int seconds = Optional.ofNullable(lease.getSpec())
                .map(LeaseSpec::getLeaseDurationSeconds)
                .orElse(0);
        return renewedAt(lease).map(renewed -> renewed.plusSeconds(seconds));
    }

    /** From when on a pod is its sandbox's: the moment of the claim, or its own start if it was made for the sandbox. */
    static Instant startOf(Pod pod) {
        return ClaimedPod.claimedAt(pod).orElseGet(() -> ClaimedPod.startOfPod(pod));
    }
}
