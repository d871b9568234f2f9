package dev.sandglass.operator.lifecycle;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.Optional;

/**
 * How long things last.
 *
 * @param idleTimeout a pod that nobody used for so long is suspended
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

    /** When a pod's maximum age ends it. */
    Instant oldAt(Pod pod) {
        return startOf(pod).plus(maxLifetime);
    }

    /**
     * When a pod is idle for too long. The last activity is the lease's renewal and the time it announced from there
     * on, so that a long run is not cut off when the gateway that renews the lease dies.
     */
    Instant idleAt(Pod pod, Optional<Lease> activity) {
        Instant start = startOf(pod);
        Instant busyUntil = activity.flatMap(Deadlines::busyUntil).orElse(start);
        return (busyUntil.isAfter(start) ? busyUntil : start).plus(idleTimeout);
    }

    /** When to look after a pod that is made now. */
    public Instant firstReview(Instant now) {
        return now.plus(idleTimeout.compareTo(maxLifetime) < 0 ? idleTimeout : maxLifetime);
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

    /** The node counts a pod's age from the moment it took it; until then, its creation stands in. */
    static Instant startOf(Pod pod) {
        String startTime = pod.getStatus() == null ? null : pod.getStatus().getStartTime();
        return Instant.parse(startTime == null ? pod.getMetadata().getCreationTimestamp() : startTime);
    }
}
