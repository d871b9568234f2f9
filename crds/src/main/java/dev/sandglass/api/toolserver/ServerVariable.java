package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sandglass.api.EnvRules;
import dev.sandglass.api.SchemaRules;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * One environment variable of an MCP server's process.
 *
 * @param name see {@link EnvRules}
 * @param value empty if absent
 * @param valueFrom where the value comes from; null for {@code value}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(value = ToolServerSchemaRules.ONE_VALUE, message = ToolServerSchemaRules.TWO_VALUES)
public record ServerVariable(
        @Required
        @Pattern(EnvRules.NAME_PATTERN)
        @Size(min = 1, max = EnvRules.MAX_NAME_LENGTH)
        @ValidationRule(value = SchemaRules.ENV_NAME_NOT_RESERVED, message = SchemaRules.ENV_NAME_RESERVED)
        @JsonPropertyDescription("Name, by the rules for a Sandbox's variables.")
        String name,

        @Size(max = EnvRules.MAX_BYTES)
        @JsonPropertyDescription("Value, taken literally: $ and other characters are not expanded. Default: empty.")
        String value,

        @JsonPropertyDescription("Takes the value from a Secret instead. A change of the Secret applies when the server"
                + " starts the next time.")
        @Nullable
        ValueSource valueFrom) {

    public ServerVariable(String name, @Nullable String value, @Nullable ValueSource valueFrom) {
        this.name = name;
        this.value = value == null ? "" : value;
        this.valueFrom = valueFrom;
    }

    /** Shows the name only: values may be keys. */
    @Override
    public String toString() {
        return "ServerVariable[name=" + name + "]";
    }
}
