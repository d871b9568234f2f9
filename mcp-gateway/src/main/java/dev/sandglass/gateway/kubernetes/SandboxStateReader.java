package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.ForeignText;
import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.api.name.SandboxName;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.SeatConfiguration;
import dev.sandglass.gateway.sandbox.SeatId;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a resource says in the gateway's terms. Pure.
 *
 * @param defaults what sandboxes without a list may reach
 * @param ofServers whether the sandboxes are those in which shared MCP servers run; else these are as if they were not there
 */
record SandboxStateReader(DefaultDomains defaults, boolean ofServers) {

    /** As much as Kubernetes has room for in a condition's message. */
    private static final int MAX_MESSAGE_CHARS = 32 * 1024;

    /** Why a sandbox cannot be used whose status names a seat that cannot be. */
    private static final String SEAT_INVALID = "SeatInvalid";

    private static final String SEAT_RULE =
            "status.seat must be a UUID in lower case, as the operator writes it. Stop the"
                    + " sandbox and start it again, and ask whoever runs this installation who else writes sandboxes/status";

    /** Reads the sandboxes that callers know. */
    SandboxStateReader(DefaultDomains defaults) {
        this(defaults, false);
    }

    /** Whether a shared MCP server runs in that sandbox. */
    static boolean isOfServer(Sandbox resource) {
        Map<String, String> labels = resource.getMetadata().getLabels();
        return labels != null && labels.containsKey(SandboxLabels.TOOL_SERVER);
    }

    /** Whether that sandbox is one of those that are read here. */
    boolean reads(Sandbox resource) {
        return isOfServer(resource) == ofServers;
    }

    /** The state a resource shows; empty if it is about to go, or is not read here. */
    Optional<SandboxState> of(String tenant, Sandbox resource) {
        ObjectMeta meta = resource.getMetadata();
        if (meta.getDeletionTimestamp() != null || !reads(resource)) {
            return Optional.empty();
        }
        return Optional.of(state(ref(tenant, meta), resource));
    }

    /** Whether the status speaks of the resource as it was written last. */
    static boolean isObserved(Sandbox resource, long generation) {
        Long seen = resource.observed().observedGeneration();
        return generationOf(resource) >= generation && seen != null && seen >= generation;
    }

    /**
     * Whether a resource, however old, says what became of an incarnation: it runs, or a later one has taken its place.
     * Anything else may be from before it.
     */
    static boolean tellsOf(int incarnation, Sandbox resource, SandboxState state) {
        Integer known = resource.observed().incarnation();
        return known != null
                && (known > incarnation || (known == incarnation && state instanceof SandboxState.Running));
    }

    static long generationOf(Sandbox resource) {
        Long generation = resource.getMetadata().getGeneration();
        return generation == null ? 0 : generation;
    }

    /** How what ran in a sandbox that was running has ended; empty while it goes on, or may. */
    Optional<SandboxEnd> end(Optional<Sandbox> now, RunningSandbox before) {
        return whyGone(now, before)
                .<SandboxEnd>map(SandboxEnd.PodGone::new)
                .or(() -> now.flatMap(resource ->
                        containerEnd(resource.observed(), before.restarts().count())));
    }

    private Optional<String> whyGone(Optional<Sandbox> now, RunningSandbox before) {
        if (now.isEmpty() || !before.uid().equals(now.get().getMetadata().getUid())) {
            return Optional.of("the sandbox was deleted");
        }
        Sandbox resource = now.get();
        Integer incarnation = resource.observed().incarnation();
        boolean replaced = incarnation != null && incarnation > before.incarnation();
        return switch (of(before.ref().tenant(), resource).orElse(null)) {
            case null -> Optional.of("the sandbox was deleted");
            case SandboxState.Stopped _ -> Optional.of("the sandbox was stopped");
            case SandboxState.Asleep asleep -> Optional.of("the sandbox was suspended (%s)".formatted(asleep.reason()));
            case SandboxState.Pending pending
            when endedThePod(pending, replaced) ->
                Optional.of("%s (%s)".formatted(sentence(pending.message()), pending.reason()));
            case SandboxState.Pending _, SandboxState.Running _ ->
                replaced ? Optional.of("its pod was replaced") : Optional.empty();
        };
    }

    /** It is down, or was started again since; a status from before what was known tells nothing. */
    private static Optional<SandboxEnd> containerEnd(SandboxStatus status, int known) {
        int restarts = restarts(status).count();
        Optional<Condition> ready = status.condition(ConditionType.READY);
        boolean down = restarts >= known
                && status.reason(ConditionType.READY)
                        .filter(reason -> reason == Reason.OOM_KILLED || reason == Reason.CRASHED)
                        .isPresent();
        if (!down && restarts <= known) {
            return Optional.empty();
        }
        String reason = down ? ready.map(SandboxStateReader::reason).orElse("") : status.restartReason();
        String message = sentence(ready.map(SandboxStateReader::message).orElse(null));
        return Optional.of(new SandboxEnd.ContainerEnded(
                down ? "%s (%s)".formatted(message, reason) : message,
                Reason.OOM_KILLED.value().equals(reason)));
    }

    private static Restarts restarts(SandboxStatus status) {
        Integer count = status.restarts();
        return count == null
                ? Restarts.NONE
                : new Restarts(
                        count,
                        sentence(status.condition(ConditionType.READY)
                                .map(SandboxStateReader::message)
                                .orElse(null)));
    }

    private static String sentence(@Nullable String message) {
        String text = message == null ? "no cause was told" : message.strip();
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }

    /** A container that ended is started again in the same pod; only a pod that was replaced is over for that. */
    private static boolean endedThePod(SandboxState.Pending pending, boolean replaced) {
        return Optional.ofNullable(pending.reason())
                .flatMap(Reason::of)
                .filter(reason -> reason == Reason.EVICTED
                        || reason == Reason.NODE_LOST
                        || reason == Reason.IMAGE_UNUSABLE
                        || (replaced && (reason == Reason.CRASHED || reason == Reason.OOM_KILLED)))
                .isPresent();
    }

    private SandboxState state(SandboxRef ref, Sandbox resource) {
        String uid = resource.getMetadata().getUid();
        SandboxStatus status = resource.observed();
        if (resource.wanted().suspended()) {
            return new SandboxState.Stopped(ref, uid);
        }
        String address = status.address();
        Integer incarnation = status.incarnation();
        if (status.holds(ConditionType.READY) && address != null && incarnation != null) {
            Optional<SeatId> seat = seat(status);
            if (status.seat() != null && seat.isEmpty()) {
                return new SandboxState.Pending(ref, uid, SEAT_INVALID, SEAT_RULE);
            }
            return new SandboxState.Running(new RunningSandbox(
                    ref,
                    uid,
                    incarnation,
                    address,
                    SandboxLabels.LINK_PORT,
                    resource.wanted().ports(),
                    reach(resource),
                    restarts(status),
                    awaited(status),
                    seat));
        }
        Optional<String> asleep = status.condition(ConditionType.SUSPENDED)
                .filter(condition -> "True".equals(condition.getStatus()))
                .map(SandboxStateReader::reason)
                .filter(reason -> !reason.equals(Reason.REQUESTED.value()));
        if (asleep.isPresent()) {
            return new SandboxState.Asleep(ref, uid, asleep.get());
        }
        Optional<Condition> ready = status.condition(ConditionType.READY);
        return new SandboxState.Pending(
                ref,
                uid,
                ready.map(SandboxStateReader::reason).orElse(null),
                ready.map(SandboxStateReader::message).orElse(null));
    }

    private static Optional<SeatId> seat(SandboxStatus status) {
        return Optional.ofNullable(status.seat()).flatMap(SeatId::of);
    }

    /**
     * What the seat of a sandbox is to be configured with, by the spec as it is now; empty if the status does not have the
     * sandbox in that seat with that incarnation.
     */
    static Optional<SeatConfiguration> configuration(Sandbox resource, int incarnation, SeatId seat) {
        SandboxStatus status = resource.observed();
        Integer known = status.incarnation();
        return known != null
                        && known == incarnation
                        && seat(status).filter(seat::equals).isPresent()
                ? Optional.of(
                        new SeatConfiguration(resource.wanted().environment(), Optional.ofNullable(status.lost())))
                : Optional.empty();
    }

    private Reach reach(Sandbox resource) {
        List<String> own = resource.wanted().allowedDomains();
        return new Reach(defaults.unlessGiven(own), own == null, ignored(resource.observed()));
    }

    private static Optional<String> awaited(SandboxStatus status) {
        return status.condition(ConditionType.READY)
                .filter(ready -> Reason.UPDATE_PENDING.value().equals(ready.getReason()))
                .map(SandboxStateReader::message);
    }

    private static Optional<String> ignored(SandboxStatus status) {
        return status.condition(ConditionType.NETWORK_READY)
                .filter(network -> Reason.DOMAINS_IGNORED.value().equals(network.getReason()))
                .map(SandboxStateReader::message);
    }

    private static SandboxRef ref(String tenant, ObjectMeta meta) {
        Map<String, String> annotations = meta.getAnnotations() == null ? Map.of() : meta.getAnnotations();
        String given = annotations.getOrDefault(SandboxLabels.GIVEN_NAME, meta.getName());
        String shown = names(given, meta.getName()) ? given : meta.getName();
        return new SandboxRef(tenant, meta.getNamespace(), meta.getName(), shown);
    }

    /** Whether a caller who writes that name means that resource; an annotation can be anything. */
    private static boolean names(String given, String resource) {
        try {
            return new SandboxName(given).resourceName().equals(resource);
        } catch (InvalidNameException e) {
            return false;
        }
    }

    /** It quotes what code wrote last and what an author chose; an operator of an earlier version let all through. */
    private static @Nullable String message(Condition condition) {
        String message = condition.getMessage();
        return message == null ? null : ForeignText.line(message, MAX_MESSAGE_CHARS);
    }

    private static @Nullable String reason(Condition condition) {
        String reason = condition.getReason();
        return reason == null ? null : ForeignText.line(reason, MAX_MESSAGE_CHARS);
    }
}
