package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Reason;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What keeps a node from starting a pod that it was given: a volume that cannot be mounted, a network or a runtime that
 * cannot be set up. The pod's status says nothing of that, only Events do, so they are read once a start is slow. Pure.
 */
public record StartBlocker(Reason reason, String message) {

    /** Most starts are over by then; reading Events costs the API server more than anything else that is asked of it. */
    static final Duration SLOW = Duration.ofSeconds(15);

    private static final int MAX_CHARS = 500;
    private static final String BEGINNING = "The node cannot ";

    /** Whether it is time to look: the pod has a node, which has reported nothing of its container for long. */
    public static boolean isDue(Pod pod, Instant now) {
        return isUnderWay(pod) && !now.isBefore(Deadlines.startOf(pod).plus(SLOW));
    }

    /** When to look at a pod; empty if it has no node yet, or has got further. */
    static Optional<Instant> nextLook(Pod pod, Instant now) {
        Instant first = Deadlines.startOf(pod).plus(SLOW);
        return isUnderWay(pod) ? Optional.of(now.isBefore(first) ? first : now.plus(SLOW)) : Optional.empty();
    }

    private static boolean isUnderWay(Pod pod) {
        return pod.getSpec() != null
                && pod.getSpec().getNodeName() != null
                && PodState.of(pod) instanceof PodState.Starting starting
                && starting.reason() == Reason.STARTING;
    }

    /**
     * What the newest of a pod's Events says; empty if it is not about trouble, as what was before it is over then.
     *
     * @param events those that regard the pod, in any order
     */
    public static Optional<StartBlocker> in(List<Event> events) {
        return events.stream().max(Comparator.comparing(StartBlocker::lastSeen)).flatMap(StartBlocker::of);
    }

    /** The former report, when the Events could not be read. */
    static Optional<StartBlocker> told(Observed seen) {
        return seen.status()
                .condition(ConditionType.READY)
                .filter(told -> told.getMessage() != null && told.getMessage().startsWith(BEGINNING))
                .flatMap(StartBlocker::of);
    }

    private static Optional<StartBlocker> of(Condition told) {
        return Reason.of(told.getReason()).map(reason -> new StartBlocker(reason, told.getMessage()));
    }

    private static Optional<StartBlocker> of(Event event) {
        return switch (event.getReason()) {
            case "FailedMount", "FailedAttachVolume", "FailedMapVolume" ->
                Optional.of(new StartBlocker(
                        Reason.VOLUME_MISSING,
                        BEGINNING + "mount a volume (" + event.getReason() + "): " + words(event)));
            case "FailedCreatePodSandBox" ->
                Optional.of(new StartBlocker(
                        Reason.STARTING, BEGINNING + "set up the pod (" + event.getReason() + "): " + words(event)));
            default -> Optional.empty();
        };
    }

    private static String words(Event event) {
        return ForeignText.line(Optional.ofNullable(event.getMessage()).orElse("it does not say why"), MAX_CHARS);
    }

    /** As RFC 3339 in UTC, so that the texts are in the order of the times. */
    private static String lastSeen(Event event) {
        return Optional.ofNullable(event.getSeries())
                .map(series -> series.getLastObservedTime().getTime())
                .or(() -> Optional.ofNullable(event.getLastTimestamp()))
                .or(() -> Optional.ofNullable(event.getEventTime()).map(time -> time.getTime()))
                .orElse("");
    }
}
