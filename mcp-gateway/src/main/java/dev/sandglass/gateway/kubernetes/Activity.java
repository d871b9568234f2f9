package dev.sandglass.gateway.kubernetes;

import java.time.Duration;
import java.time.Instant;

/**
 * What an activity lease says, and when it has to be written again. Pure.
 *
 * @param renewed the last use
 * @param busyUntil until when the sandbox counts as busy
 */
record Activity(Instant renewed, Instant busyUntil) {

    /** A use that begins now and may take that long; a lease cannot last less than a second. */
    static Activity now(Instant now, Duration busyFor) {
        Duration atLeast = busyFor.compareTo(Duration.ofSeconds(1)) < 0 ? Duration.ofSeconds(1) : busyFor;
        return new Activity(now, now.plus(atLeast));
    }

    /**
     * Whether what is recorded protects that use well enough: the idle time counts from {@code busyUntil}, so that a
     * quarter of it may be lacking.
     */
    boolean covers(Activity use, Duration idleTimeout) {
        return !use.busyUntil().isAfter(busyUntil.plus(idleTimeout.dividedBy(4)));
    }

    /** That use, without shortening what another replica wrote for a longer one. */
    Activity extendedBy(Activity use) {
        return new Activity(use.renewed(), use.busyUntil().isAfter(busyUntil) ? use.busyUntil() : busyUntil);
    }

    /** The length of the lease from its renewal on, in whole seconds, rounded up. */
    int leaseSeconds() {
        long millis = Duration.between(renewed, busyUntil).toMillis();
        return Math.clamp((millis + 999) / 1000, 1, Integer.MAX_VALUE);
    }
}
