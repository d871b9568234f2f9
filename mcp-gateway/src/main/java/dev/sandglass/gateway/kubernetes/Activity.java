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

    /** Clocks of nodes may differ by that much; what was used later than that was written by a clock that was wrong. */
    static final Duration SKEW = Duration.ofMinutes(1);

    /** A use that begins now and may take that long; a lease cannot last less than a second. */
    static Activity now(Instant now, Duration busyFor) {
        Duration atLeast = busyFor.compareTo(Duration.ofSeconds(1)) < 0 ? Duration.ofSeconds(1) : busyFor;
        return new Activity(now, now.plus(atLeast));
    }

    /**
     * The use that ends a sleep: a moment after it began, if that is later than now. It began by the operator's clock, which
     * may be ahead of ours and takes no earlier use for a wish to wake.
     */
    static Activity ending(Instant sleep, Instant now) {
        Instant after = sleep.plusMillis(1);
        return now(after.isAfter(now) ? after : now, Duration.ZERO);
    }

    /**
     * Whether what is recorded protects that use well enough: the idle time counts from {@code busyUntil}, so that a
     * quarter of it may be lacking.
     */
    boolean covers(Activity use, Duration idleTimeout) {
        return !isAheadOf(use) && !use.busyUntil().isAfter(busyUntil.plus(idleTimeout.dividedBy(4)));
    }

    /**
     * Whether what was announced of it may go on: a use that needs no other lease may end a quarter of the idle time later
     * than this one says.
     */
    boolean mayGoOn(Instant now, Duration idleTimeout) {
        return !idleFor(now, idleTimeout).isPositive();
    }

    /** How long the sandbox has been idle at least, by the same measure; zero or less if it may be in use. */
    Duration idleFor(Instant now, Duration idleTimeout) {
        return Duration.between(busyUntil.plus(idleTimeout.dividedBy(4)).plus(SKEW), now);
    }

    /** That use, without shortening what another replica wrote for a longer or a later one. */
    Activity extendedBy(Activity use) {
        return isAheadOf(use) ? use : new Activity(later(renewed, use.renewed()), later(busyUntil, use.busyUntil()));
    }

    private boolean isAheadOf(Activity use) {
        return renewed.isAfter(use.renewed().plus(SKEW));
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    /** The length of the lease from its renewal on, in whole seconds, rounded up. */
    int leaseSeconds() {
        long millis = Duration.between(renewed, busyUntil).toMillis();
        return Math.clamp((millis + 999) / 1000, 1, Integer.MAX_VALUE);
    }
}
