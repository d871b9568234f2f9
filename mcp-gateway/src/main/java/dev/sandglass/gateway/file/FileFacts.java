package dev.sandglass.gateway.file;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What is known of a file or folder in a sandbox.
 *
 * @param path below the folder that was listed, or as it was asked for
 * @param type {@code file}, {@code folder}, {@code link} or {@code other}
 * @param size bytes, of files only
 * @param modified when its content changed last
 * @param mode four octal digits; null in lists
 * @param target what a link says; null in lists and for all else
 */
public record FileFacts(
        String path,
        String type,
        @Nullable Long size,
        Instant modified,
        @Nullable String mode,
        @Nullable String target) {

    private static final int MILLIS = 1000;
    private static final Set<String> TYPES = Set.of("file", "folder", "link", "other");
    private static final Pattern MODE = Pattern.compile("[0-7]{1,6}");

    /** Untrusted: what is missing or odd becomes a harmless value. */
    static FileFacts parse(String path, JsonNode json) {
        JsonNode size = json.path("size");
        return new FileFacts(
                whole(path),
                type(json.path("type").asString("")),
                size.isIntegralNumber() && size.canConvertToLong() ? Math.max(0, size.asLong()) : null,
                Instant.ofEpochMilli(Math.round(json.path("modified").asDouble(0) * MILLIS)),
                mode(json.path("mode").asString("")),
                text(json.path("target")));
    }

    private static String type(String word) {
        return TYPES.contains(word) ? word : "other";
    }

    private static @Nullable String mode(String digits) {
        return MODE.matcher(digits).matches() ? digits : null;
    }

    private static @Nullable String text(JsonNode value) {
        return value.isString() ? whole(value.asString()) : null;
    }

    /** Without halves of characters, which no answer could hold. */
    private static String whole(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }
}
