package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * A header that is sent to an MCP server with each request.
 *
 * @param name a token of RFC 9110; upper and lower case are the same
 * @param value empty if absent
 * @param valueFrom where the value comes from; null for {@code value}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(value = ToolServerSchemaRules.ONE_VALUE, message = ToolServerSchemaRules.TWO_VALUES)
public record HttpHeader(
        @Required
        @Size(min = 1, max = MAX_NAME)
        @Pattern(ToolServerSchemaRules.HEADER_NAME)
        @JsonPropertyDescription("Name, such as Authorization. Upper and lower case are the same.")
        String name,

        @Size(max = MAX_VALUE)
        @Pattern(ToolServerSchemaRules.HEADER_VALUE)
        @JsonPropertyDescription(
                "Value, taken literally: one line of printable ASCII without blanks at its ends. Default:" + " empty.")
        String value,

        @JsonPropertyDescription("Takes the whole value from a Secret instead; a line break at its end is left out. A"
                + " change of the Secret applies when the server is connected to the next time.")
        @Nullable
        ValueSource valueFrom) {

    /** Longest name. */
    public static final int MAX_NAME = 256;

    /** Longest value. */
    public static final int MAX_VALUE = 16 * 1024;

    public HttpHeader(String name, @Nullable String value, @Nullable ValueSource valueFrom) {
        this.name = name;
        this.value = value == null ? "" : value;
        this.valueFrom = valueFrom;
    }

    /** Shows the name only: values may be keys. */
    @Override
    public String toString() {
        return "HttpHeader[name=" + name + "]";
    }
}
