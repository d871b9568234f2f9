package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.Comparator;

/**
 * One entry of a Secret. Its author opens the Secret to MCP servers by its name, which never changes, as with
 * {@link dev.sandglass.api.VolumeRules#SECRET_PREFIX}.
 *
 * @param name of the Secret, in the namespace of the resource
 * @param key of the entry
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record SecretKeyRef(
        @Required
        @Size(min = 1, max = MAX_NAME)
        @Pattern(ToolServerSchemaRules.OBJECT_NAME)
        @ValidationRule(value = ToolServerSchemaRules.SECRET_OPEN, message = ToolServerSchemaRules.SECRET_CLOSED)
        @JsonPropertyDescription("Name of a Secret of the same namespace; it must begin with sandglass-mcp-.")
        String name,

        @Required
        @Size(min = 1, max = MAX_KEY)
        @Pattern(ToolServerSchemaRules.SECRET_KEY)
        @JsonPropertyDescription("Key of the entry whose value is used.")
        String key)
        implements Comparable<SecretKeyRef> {

    /** Beginning of the names of Secrets that tool servers may use. */
    public static final String PREFIX = "sandglass-mcp-";

    /** Longest name of a Secret. */
    public static final int MAX_NAME = 253;

    /** Longest key of an entry. */
    public static final int MAX_KEY = 253;

    private static final java.util.regex.Pattern NAME =
            java.util.regex.Pattern.compile(ToolServerSchemaRules.OBJECT_NAME);
    private static final java.util.regex.Pattern KEY =
            java.util.regex.Pattern.compile(ToolServerSchemaRules.SECRET_KEY);

    /** Whether it keeps the rules of the schema, which an older one may not have had. No field of the resource. */
    @JsonIgnore
    public boolean isOpen() {
        return name.startsWith(PREFIX)
                && name.length() <= MAX_NAME
                && NAME.matcher(name).matches()
                && key.length() <= MAX_KEY
                && KEY.matcher(key).matches();
    }

    @Override
    public int compareTo(SecretKeyRef other) {
        return Comparator.comparing(SecretKeyRef::name)
                .thenComparing(SecretKeyRef::key)
                .compare(this, other);
    }
}
