package dev.sandglass.api.pool;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.model.annotation.LabelSelector;
import io.fabric8.kubernetes.model.annotation.StatusReplicas;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * State of a pool; only the operator writes it. Claimed seats are the sandboxes' and count no more.
 *
 * @param observedGeneration generation of the spec that the rest of the status speaks of
 * @param replicas seats that there are, ready or not
 * @param readyReplicas those that can be claimed
 * @param updatedReplicas those that are as the template and the installation have it now
 * @param selector of the unclaimed seats, for the scale subresource
 * @param conditions one per {@link PoolCondition}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SandboxPoolStatus(
        @JsonPropertyDescription("Generation of the spec that the rest of the status describes.") @Nullable
        Long observedGeneration,

        @StatusReplicas @JsonPropertyDescription("How many seats there are, ready or not. Claimed ones do not count.")
        int replicas,

        @JsonPropertyDescription("How many seats are ready to be claimed.")
        int readyReplicas,

        @JsonPropertyDescription("How many seats are as the template and the installation have it now.")
        int updatedReplicas,

        @LabelSelector @JsonPropertyDescription("Label selector of the pool's unclaimed seats.") @Nullable
        String selector,

        @JsonPropertyDescription("Available and Progressing.")
        List<Condition> conditions) {

    /** The status of a pool that the operator has not seen. */
    public static final SandboxPoolStatus UNSEEN = new SandboxPoolStatus(null, 0, 0, 0, null, null);

    public SandboxPoolStatus(
            @Nullable Long observedGeneration,
            int replicas,
            int readyReplicas,
            int updatedReplicas,
            @Nullable String selector,
            @Nullable List<Condition> conditions) {
        this.observedGeneration = observedGeneration;
        this.replicas = replicas;
        this.readyReplicas = readyReplicas;
        this.updatedReplicas = updatedReplicas;
        this.selector = selector;
        this.conditions = conditions == null ? List.of() : List.copyOf(conditions);
    }

    /** The condition of a type, if the operator has set it. */
    public Optional<Condition> condition(PoolCondition type) {
        return conditions.stream()
                .filter(condition -> type.value().equals(condition.getType()))
                .findFirst();
    }
}
