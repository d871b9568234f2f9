package dev.sandglass.api.toolserver;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.sandglass.api.ForeignText;
import io.fabric8.generator.annotation.Size;
import org.jspecify.annotations.Nullable;

/**
 * What an MCP server says of itself: hostile text, which is cleaned and cut here. Empty where it says nothing.
 *
 * @param name its own name
 * @param version its version
 * @param protocolVersion the revision of MCP in which it answered
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record ServerInfo(
        @Size(max = MAX_TEXT) @JsonPropertyDescription("The server's own name; at most 256 characters.")
        String name,

        @Size(max = MAX_TEXT) @JsonPropertyDescription("Its version; at most 256 characters.")
        String version,

        @Size(max = MAX_TEXT)
        @JsonPropertyDescription("The revision of MCP in which it answers; at most 256 characters.")
        String protocolVersion) {

    /** Most characters of each text, the mark of a cut among them. */
    public static final int MAX_TEXT = 256;

    public ServerInfo(@Nullable String name, @Nullable String version, @Nullable String protocolVersion) {
        this.name = line(name);
        this.version = line(version);
        this.protocolVersion = line(protocolVersion);
    }

    private static String line(@Nullable String text) {
        return text == null || isLine(text) ? orEmpty(text) : ForeignText.line(text, MAX_TEXT - 1);
    }

    /** A text that was cut before stays as it is. */
    private static boolean isLine(String text) {
        return text.length() <= MAX_TEXT && ForeignText.line(text, MAX_TEXT).equals(text);
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
