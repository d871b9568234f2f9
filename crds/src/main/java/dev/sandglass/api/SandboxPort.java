package dev.sandglass.api;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import org.jspecify.annotations.Nullable;

/**
 * A TCP port of a sandbox on which its code serves HTTP, and which the gateway makes reachable. Everything there is to know
 * is the number; there is no other protocol, and no choice of who else may reach it.
 *
 * @param name for people, shown next to the URL; null for none
 * @param port {@value #MIN} to {@value #MAX}, see {@link #allowed}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SandboxPort(
        @Pattern(NAME_PATTERN)
        @Size(max = MAX_NAME_LENGTH)
        @JsonPropertyDescription(
                "Name shown next to the URL: at most 15 lower-case letters, digits and hyphens. Default:" + " no name.")
        @Nullable
        String name,

        @Required
        @Min(MIN)
        @Max(MAX)
        @ValidationRule(value = SchemaRules.PORT_NOT_LINK, message = SchemaRules.PORT_IS_LINK)
        @JsonPropertyDescription(
                "TCP port on which the code serves HTTP, from 1024 to 65535 but not 5710. The code must"
                        + " listen on 0.0.0.0 or ::, not on localhost.")
        int port) {

    /** The lowest port; the code has no right to listen below it. */
    public static final int MIN = 1024;

    /** The highest port. */
    public static final int MAX = 65_535;

    /** Most ports of one sandbox. */
    public static final int MAX_ENTRIES = 16;

    /** Longest name. */
    public static final int MAX_NAME_LENGTH = 15;

    /** Shape of a name. */
    public static final String NAME_PATTERN = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$";

    /** Whether a sandbox may declare that port: those below are closed to its code, one belongs to the link. */
    public static boolean allowed(int port) {
        return port >= MIN && port <= MAX && port != SandboxLabels.LINK_PORT;
    }
}
