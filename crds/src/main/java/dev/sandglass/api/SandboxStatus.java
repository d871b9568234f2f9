package dev.sandglass.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What became of a sandbox; written by the operator alone. Instants are RFC 3339 in UTC.
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
 * @param lost why what earlier runs left in the memory is lost, in one word, as long as no pod runs that tells them;
 *     absent if nothing is to be told
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SandboxStatus(
        @JsonPropertyDescription("Generation of the spec that the rest of the status speaks of.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription("Ready, NetworkReady and Suspended. There is no phase: Ready says whether the sandbox"
                + " can be used, its reason why not.")
        List<Condition> conditions,

        @JsonPropertyDescription("IP address of the pod; set exactly while Ready is True.") @Nullable
        String address,

        @JsonPropertyDescription("Name of the present pod; absent while suspended.") @Nullable
        String podName,

        @JsonPropertyDescription("Number of the newest pod, from 1. A new number means that memory and scratch files"
                + " started afresh.")
        @Nullable
        Integer incarnation,

        @JsonPropertyDescription("When the present pod started.") @Nullable
        String startedAt,

        @JsonPropertyDescription("When the sandbox was suspended; absent while it is not.") @Nullable
        String suspendedAt,

        @JsonPropertyDescription(
                "While there is a pod: when its maximum lifetime ends it. While suspended: when the resource"
                        + " is deleted.")
        @Nullable
        String expiresAt,

        @JsonPropertyDescription("Restarts of the present pod's container; each lost the variables, none the files.")
        @Nullable
        Integer restarts,

        @JsonPropertyDescription("Why the container was restarted the last time: OOMKilled or Crashed. The message of"
                + " Ready says more.")
        @Nullable
        String restartReason,

        @JsonPropertyDescription("Why variables and scratch files of earlier runs are lost, in one word: a reason, or"
                + " Deleted if the pod was deleted and nobody said why. The first runs in the next pod are told; absent"
                + " once that pod runs.")
        @Nullable
        String lost) {

    /** The status of a sandbox that the operator has not seen. */
    public static final SandboxStatus UNSEEN =
            new SandboxStatus(null, null, null, null, null, null, null, null, null, null, null);

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
                lost);
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
