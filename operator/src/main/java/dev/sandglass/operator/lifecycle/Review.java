package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.operator.child.PodRefusal;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** When a sandbox is looked at again if nothing happens by then. Pure. */
public final class Review {

    /** Room in a quota, or a volume, may come at any time; other refusals need an edit of the sandbox. */
    static final Duration QUOTA_RETRY = Duration.ofSeconds(10);

    /** A seat that ends to make room has left by then. */
    static final Duration PASSING_RETRY = Duration.ofSeconds(3);

    /** A Secret or a claim is often made right behind what names it. */
    static final Duration VOLUME_RETRY = Duration.ofSeconds(1);

    /** Thousands that wait for room must not take the API server's time, and the workers, from those that start. */
    static final Duration LONGEST_RETRY = Duration.ofMinutes(5);

    /** The pause is this part of the time for which it has been tried already. */
    private static final int PART = 4;

    static final Duration REFUSAL_RETRY = Duration.ofMinutes(1);

    /** A user may have written to the sandbox at that moment, which keeps it and need not begin a round. */
    static final Duration DELETE_RETRY = Duration.ofSeconds(2);

    private Review() {}

    /**
     * The time of the next look; empty if only an event leads to one.
     *
     * @param after what there is after the decision was carried out
     * @param status of these observations
     */
    public static Optional<Instant> of(Observed after, Decision decision, SandboxStatus status, Deadlines own) {
        Optional<Instant> refused = after.refusal()
                .filter(why -> after.livePod().isEmpty() && !(decision instanceof Decision.Wait))
                .map(why -> after.now().plus(retry(why, after, status)));
        return switch (decision) {
            case Decision.Run run -> refused.or(() -> Optional.of(run.review()));
            case Decision.Resume resume -> refused.or(() -> Optional.of(own.firstReview(after.now())));
            case Decision.Replace replace -> refused.or(() -> Optional.of(own.firstReview(after.now())));
            // Who slept already sleeps since then.
            case Decision.Suspend suspend ->
                Optional.ofNullable(status.expiresAt()).map(Instant::parse);
            case Decision.Sleep sleep -> Optional.of(sleep.end());
            case Decision.Wait wait -> wait.review();
            case Decision.Keep keep -> Optional.empty();
            case Decision.Delete delete -> Optional.of(after.now().plus(DELETE_RETRY));
            case Decision.Leave leave -> Optional.empty();
        };
    }

    private static Duration retry(PodRefusal why, Observed after, SandboxStatus status) {
        if (why.passing()) {
            return PASSING_RETRY;
        }
        return mayHealAlone(why.reason()) ? pause(why.reason(), after, status) : REFUSAL_RETRY;
    }

    private static boolean mayHealAlone(Reason reason) {
        return reason == Reason.QUOTA_EXCEEDED || reason == Reason.VOLUME_MISSING || reason == Reason.STARTING;
    }

    /** How long to wait with the next attempt; short after the first one, whatever the sandbox waited for before. */
    private static Duration pause(Reason reason, Observed after, SandboxStatus status) {
        Duration tried = after.status().reason(ConditionType.READY).equals(Optional.of(reason))
                ? Duration.between(wantedSince(status), after.now())
                : Duration.ZERO;
        Duration first = reason == Reason.VOLUME_MISSING ? VOLUME_RETRY : QUOTA_RETRY;
        return Collections.max(List.of(first, Collections.min(List.of(LONGEST_RETRY, tried.dividedBy(PART)))));
    }

    /** A sandbox that was woken is as little Ready as it was in its sleep, so that Ready alone does not tell. */
    private static Instant wantedSince(SandboxStatus status) {
        return Stream.of(ConditionType.READY, ConditionType.SUSPENDED)
                .flatMap(type -> status.condition(type).stream())
                .map(told -> Instant.parse(told.getLastTransitionTime()))
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }
}
