package dev.sandglass.gateway.execution;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
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

    /** Untrusted: what is missing or odd becomes a harmless value. */
    static FileFacts parse(String path, JsonNode json) {
        JsonNode size = json.path("size");
        return new FileFacts(
                whole(path),
                json.path("type").asString("other"),
                size.isIntegralNumber() && size.canConvertToLong() ? Math.max(0, size.asLong()) : null,
                Instant.ofEpochMilli(Math.round(json.path("modified").asDouble(0) * MILLIS)),
                text(json.path("mode")),
                text(json.path("target")));
    }

    private static @Nullable String text(JsonNode value) {
        return value.isString() ? whole(value.asString()) : null;
    }

    /** Without halves of characters, which no answer could hold. */
    private static String whole(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }
}
