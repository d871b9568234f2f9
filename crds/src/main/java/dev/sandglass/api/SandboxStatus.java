package dev.sandglass.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * State of a sandbox; only the operator writes it. Instants are RFC 3339 in UTC.
 *
 * @param observedGeneration generation of the spec that the rest of the status speaks of
 * @param conditions one per {@link ConditionType}
 * @param address IP address of the pod; present exactly while Ready is True
 * @param podName name of the pod of the present incarnation; absent while suspended
 * @param incarnation number of the newest pod, from 1; kept while suspended
 * @param startedAt start of the present pod
 * @param suspendedAt when the sandbox was suspended; absent while it is not
 * @param expiresAt while there is a pod: when its maximum lifetime ends it; while suspended: when the resource is deleted
 * @param restarts restarts of the present pod's container; each one lost all variables
 * @param restartReason why it was restarted the last time, e.g. {@code OOMKilled}; absent if it never was
 * @param lost why what earlier runs left in the memory is lost, in one word, until a pod runs that reports it;
 *     absent if there is nothing to report
 * @param seat id of the seat that the present pod was; absent if the pod was made for this sandbox, or there is none
 * @param start how the present pod was started, such as {@code Warm: pool default}; absent where the namespace has no pool
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SandboxStatus(
        @JsonPropertyDescription("Generation of the spec that the rest of the status describes.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription(
                "Ready, NetworkReady and Suspended. There is no phase: Ready says whether the sandbox can"
                        + " be used, and its reason says why not.")
        List<Condition> conditions,

        @JsonPropertyDescription("IP address of the pod; set while Ready is True, and only then.") @Nullable
        String address,

        @JsonPropertyDescription("Name of the current pod; absent while the sandbox is suspended.") @Nullable
        String podName,

        @JsonPropertyDescription("Number of the newest pod, counted from 1. A new number means that memory and scratch"
                + " files are new.")
        @Nullable
        Integer incarnation,

        @JsonPropertyDescription("When the current pod started.") @Nullable
        String startedAt,

        @JsonPropertyDescription("When the sandbox was suspended; absent while it is not.") @Nullable
        String suspendedAt,

        @JsonPropertyDescription(
                "With a pod: when the operator suspends the sandbox for its maximum lifetime. Suspended:"
                        + " when the operator deletes the resource.")
        @Nullable
        String expiresAt,

        @JsonPropertyDescription(
                "How often the current pod's container restarted. Each restart lost the variables but no" + " files.")
        @Nullable
        Integer restarts,

        @JsonPropertyDescription("Why the container restarted the last time: OOMKilled or Crashed. The message of Ready"
                + " has details.")
        @Nullable
        String restartReason,

        @JsonPropertyDescription("Why variables and scratch files of earlier runs are lost: a reason, or Deleted if the"
                + " pod was deleted for no recorded reason. The first runs in the next pod report it."
                + " Absent once that pod runs.")
        @Nullable
        String lost,

        @JsonPropertyDescription("Id of the seat that the current pod was; absent if the operator made the pod for this"
                + " sandbox, or while there is none.")
        @Nullable
        String seat,

        @JsonPropertyDescription("How the current pod was started. \"Warm: pool NAME\": it was a seat of that"
                + " SandboxPool. \"Cold: REASON\": the operator made it, for that reason. Absent while there is no pod,"
                + " and in a namespace without a SandboxPool.")
        @Nullable
        String start) {

    /** The status of a sandbox that the operator has not seen. */
    public static final SandboxStatus UNSEEN =
            new SandboxStatus(null, null, null, null, null, null, null, null, null, null, null, null, null);

    public SandboxStatus(
            @Nullable Long observedGeneration,
            @Nullable List<Condition> conditions,
            @Nullable String address,
            @Nullable String podName,
            @Nullable Integer incarnation,
            @Nullable String startedAt,
            @Nullable String suspendedAt,
            @Nullable String expiresAt,
            @Nullable Integer restarts,
            @Nullable String restartReason,
            @Nullable String lost,
            @Nullable String seat,
            @Nullable String start) {
        this.observedGeneration = observedGeneration;
        this.conditions = conditions == null ? List.of() : List.copyOf(conditions);
        this.address = address;
        this.podName = podName;
        this.incarnation = incarnation;
        this.startedAt = startedAt;
        this.suspendedAt = suspendedAt;
        this.expiresAt = expiresAt;
        this.restarts = restarts;
        this.restartReason = restartReason;
        this.lost = lost;
        this.seat = seat;
        this.start = start;
    }

    /** The status of a sandbox whose pod, if it has one, was made for it in a namespace without a pool. */
    public SandboxStatus(
            @Nullable Long observedGeneration,
            @Nullable List<Condition> conditions,
            @Nullable String address,
            @Nullable String podName,
            @Nullable Integer incarnation,
            @Nullable String startedAt,
            @Nullable String suspendedAt,
            @Nullable String expiresAt,
            @Nullable Integer restarts,
            @Nullable String restartReason,
            @Nullable String lost) {
        this(
                observedGeneration,
                conditions,
                address,
                podName,
                incarnation,
                startedAt,
                suspendedAt,
                expiresAt,
                restarts,
                restartReason,
                lost,
                null,
                null);
    }

    /** The same with other conditions. */
    public SandboxStatus withConditions(List<Condition> others) {
        return new SandboxStatus(
                observedGeneration,
                others,
                address,
                podName,
                incarnation,
                startedAt,
                suspendedAt,
                expiresAt,
                restarts,
                restartReason,
                lost,
                seat,
                start);
    }

    /** The condition of a type, if the operator has set it. */
    public Optional<Condition> condition(ConditionType type) {
        return conditions.stream()
                .filter(condition -> type.value().equals(condition.getType()))
                .findFirst();
    }

    /** Whether a condition is True; an absent one is not. */
    public boolean holds(ConditionType type) {
        return condition(type)
                .filter(condition -> "True".equals(condition.getStatus()))
                .isPresent();
    }

    /** The reason of a condition, if it is set and known to this version. */
    public Optional<Reason> reason(ConditionType type) {
        return condition(type).map(Condition::getReason).flatMap(Reason::of);
    }
}
