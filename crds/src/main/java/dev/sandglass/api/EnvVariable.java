package dev.sandglass.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * One environment variable for the code in a sandbox. There is no {@code valueFrom}: a secret has no place next to
 * unreviewed code.
 *
 * @param name see {@link EnvRules}
 * @param value empty if absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record EnvVariable(
        @Required
        @Pattern(EnvRules.NAME_PATTERN)
        @Size(min = 1, max = EnvRules.MAX_NAME_LENGTH)
        @ValidationRule(value = SchemaRules.ENV_NAME_NOT_RESERVED, message = SchemaRules.ENV_NAME_RESERVED)
        @JsonPropertyDescription("Name: letters, digits and underscores, not starting with a digit, at most 256"
                + " characters. Names that steer the way out of the sandbox, the dynamic linker or the"
                + " supervisor are reserved: SANDGLASS_*, LD_*, the proxy variables, JAVA_TOOL_OPTIONS,"
                + " GIT_SSH_COMMAND, PYTHONSTARTUP.")
        String name,

        @Size(max = EnvRules.MAX_BYTES)
        @JsonPropertyDescription("Value, taken literally: $ and other characters are not expanded. Default: empty.")
        String value) {

    public EnvVariable(String name, @Nullable String value) {
        this.name = name;
        this.value = value == null ? "" : value;
    }

    /** Shows the name only: values may be confidential to their owner. */
    @Override
    public String toString() {
        return "EnvVariable[name=" + name + "]";
    }
}
