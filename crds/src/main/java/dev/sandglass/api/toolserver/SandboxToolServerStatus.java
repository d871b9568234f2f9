package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * State of a tool server; only the operator writes it.
 *
 * @param observedGeneration generation of the spec that the rest of the status speaks of
 * @param conditions one per {@link ToolServerCondition}
 * @param sandboxName name of the child; absent if there is none of ours
 * @param serverInfo what the server says of itself; present only while {@code Verified} is True
 * @param toolCount how many tools it has; the same
 * @param toolsHash digest of their names and schemas; the same
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SandboxToolServerStatus(
        @JsonPropertyDescription("Generation of the spec that the rest of the status describes.") @Nullable
        Long observedGeneration,

        @JsonPropertyDescription(
                "Accepted, Available, Verified and Ready. Ready says whether the server can be called, and its reason"
                        + " says why not.")
        List<Condition> conditions,

        @JsonPropertyDescription(
                "Name of the Sandbox in whose pod the server runs; absent if the operator could not create it.")
        @Nullable
        String sandboxName,

        @JsonPropertyDescription("What the server says of itself: its own words. Set while Verified is True.") @Nullable
        ServerInfo serverInfo,

        @JsonPropertyDescription(
                "How many tools the server has, those that spec.tools keeps from code among them. Set while"
                        + " Verified is True.")
        @Nullable
        Integer toolCount,

        @JsonPropertyDescription(
                "Digest of the names and schemas of the tools, in any order. Set while Verified is True.")
        @Nullable
        String toolsHash) {

    /** The status of a tool server that the operator has not seen. */
    public static final SandboxToolServerStatus UNSEEN = new SandboxToolServerStatus(null, null, null);

    public SandboxToolServerStatus(
            @Nullable Long observedGeneration,
            @Nullable List<Condition> conditions,
            @Nullable String sandboxName,
            @Nullable ServerInfo serverInfo,
            @Nullable Integer toolCount,
            @Nullable String toolsHash) {
        this.observedGeneration = observedGeneration;
        this.conditions = conditions == null ? List.of() : List.copyOf(conditions);
        this.sandboxName = sandboxName;
        this.serverInfo = serverInfo;
        this.toolCount = toolCount;
        this.toolsHash = toolsHash;
    }

    /** The status of a tool server to which no gateway has talked. */
    public SandboxToolServerStatus(
            @Nullable Long observedGeneration, @Nullable List<Condition> conditions, @Nullable String sandboxName) {
        this(observedGeneration, conditions, sandboxName, null, null, null);
    }

    /** The condition of a type, if the operator has set it. */
    public Optional<Condition> condition(ToolServerCondition type) {
        return conditions.stream()
                .filter(condition -> type.value().equals(condition.getType()))
                .findFirst();
    }

    /** Whether a condition is True; an absent one is not. */
    public boolean holds(ToolServerCondition type) {
        return condition(type)
                .filter(condition -> "True".equals(condition.getStatus()))
                .isPresent();
    }
}
