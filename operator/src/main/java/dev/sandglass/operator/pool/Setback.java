package dev.sandglass.operator.pool;

import dev.sandglass.api.Reason;
import dev.sandglass.operator.child.PodRefusal;
import dev.sandglass.operator.lifecycle.SeatState;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;

/**
 * What went wrong with the seats of a pool since the last one that started. Pure.
 *
 * @param reason of a sandbox's Ready
 * @param message in the words of a sandbox's Ready
 * @param refused whether the API server refused a pod; else a seat failed
 * @param count how often, in a row
 * @param since when it first went wrong
 * @param latest when it went wrong last
 */
record Setback(Reason reason, String message, boolean refused, int count, Instant since, Instant latest) {

    /** So many seats may fail in a row before the pool says so and makes the next ones less and less often. */
    static final int BUDGET = 5;

    static final Duration QUOTA_RETRY = Duration.ofSeconds(10);
    static final Duration REFUSAL_RETRY = Duration.ofMinutes(1);
    static final Duration LONGEST_RETRY = Duration.ofMinutes(5);

    /** The pause is this part of the time for which it has been tried already. */
    private static final int PART = 4;

    static Setback of(PodRefusal refusal, Instant now) {
        return new Setback(refusal.reason(), refusal.message(), true, 1, now, now);
    }

    static Setback of(SeatState.Trouble trouble, Instant now) {
        return new Setback(trouble.reason(), trouble.message(), false, 1, now, now);
    }

    /** This one after another of its kind. */
    Setback then(Setback next) {
        return refused == next.refused
                ? new Setback(next.reason, next.message, refused, count + 1, since, next.latest)
                : next;
    }

    /** Whether the pool says so. */
    boolean isTold() {
        return refused || count >= BUDGET;
    }

    /** Whether a quota had no room even after a pause, in which a seat that was ended before gave up its own. */
    boolean isCrowded() {
        return refused && reason == Reason.QUOTA_EXCEEDED && count > 1;
    }

    /** When a seat may be tried again. */
    Instant retry() {
        if (refused && reason != Reason.QUOTA_EXCEEDED) {
            return latest.plus(REFUSAL_RETRY);
        }
        return isTold() ? latest.plus(pause()) : latest;
    }

    private Duration pause() {
        Duration part = Duration.between(since, latest).dividedBy(PART);
        return Collections.max(List.of(QUOTA_RETRY, Collections.min(List.of(LONGEST_RETRY, part))));
    }
}
