package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Chooses sandboxes by their labels, as Kubernetes' label selectors do: every entry of both fields has to hold, and a
 * selector without entries chooses all.
 *
 * @param matchLabels values that labels have
 * @param matchExpressions what else holds of labels
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record SandboxSelector(
        @ValidationRule(value = ToolServerSchemaRules.LABELS, message = ToolServerSchemaRules.LABELS_WRONG)
        @JsonPropertyDescription("Labels that a sandbox has, with their values; at most 16.")
        Map<String, String> matchLabels,

        @Size(max = MAX_ENTRIES)
        @JsonPropertyDescription(
                "What else holds of a sandbox's labels; at most 16 entries, of which each has to hold.")
        List<Requirement> matchExpressions) {

    /** Every sandbox. */
    public static final SandboxSelector ALL = new SandboxSelector(null, null);

    /** Most entries of each field. */
    public static final int MAX_ENTRIES = 16;

    /** Most values of a requirement. */
    public static final int MAX_VALUES = 64;

    /** Longest key of a label: a prefix, a slash and a name. */
    public static final int MAX_KEY = 253 + 1 + 63;

    /** Longest value of a label. */
    public static final int MAX_VALUE = 63;

    /** What the value of a label is. */
    public static final String VALUE_PATTERN = "^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$";

    public SandboxSelector(@Nullable Map<String, String> matchLabels, @Nullable List<Requirement> matchExpressions) {
        this.matchLabels = matchLabels == null ? Map.of() : Map.copyOf(matchLabels);
        this.matchExpressions = matchExpressions == null ? List.of() : List.copyOf(matchExpressions);
    }

    /** Whether a sandbox with these labels is chosen; null stands for none. */
    public boolean matches(@Nullable Map<String, String> labels) {
        Map<String, String> present = labels == null ? Map.of() : labels;
        return present.entrySet().containsAll(matchLabels.entrySet())
                && matchExpressions.stream().allMatch(requirement -> requirement.holds(present));
    }

    /**
     * What has to hold of one label.
     *
     * @param key the label's
     * @param operator In, NotIn, Exists or DoesNotExist; another one holds of no sandbox
     * @param values of In and NotIn
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    @ValidationRule(value = ToolServerSchemaRules.VALUES, message = ToolServerSchemaRules.VALUES_WRONG)
    public record Requirement(
            @Required
            @Size(min = 1, max = MAX_KEY)
            @Pattern(ToolServerSchemaRules.LABEL_KEY)
            @JsonPropertyDescription("Key of the label.")
            String key,

            @Required
            @JsonPropertyDescription(
                    "In: the label has one of the values. NotIn: it has none of them, or there is no such"
                            + " label. Exists: there is such a label. DoesNotExist: there is none.")
            String operator,

            @Size(max = MAX_VALUES)
            @JsonPropertyDescription("Values for In and NotIn, at most 64; none for Exists and DoesNotExist.")
            List<String> values) {

        public Requirement(String key, String operator, @Nullable List<String> values) {
            this.key = key;
            this.operator = operator;
            this.values = values == null ? List.of() : List.copyOf(values);
        }

        boolean holds(Map<String, String> labels) {
            String value = labels.get(key);
            return switch (operator) {
                case "In" -> value != null && values.contains(value);
                case "NotIn" -> value == null || !values.contains(value);
                case "Exists" -> value != null;
                case "DoesNotExist" -> value == null;
                default -> false;
            };
        }
    }
}
