package dev.sandglass.gateway.execution;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A kernel that keeps variables under a name.
 *
 * @param name which one
 * @param state {@code starting}, {@code idle}, {@code busy} or {@code dead}
 * @param executions how many ran since it began
 * @param uptimeSeconds since it began; null if the supervisor does not say
 * @param pythonEnv its interpreter's environment, as a caller named it; null if it is the sandbox's own
 * @param label what a caller calls it; null if that is its name
 */
public record Session(
        Name name,
        String state,
        long executions,
        @Nullable Double uptimeSeconds,
        @Nullable String pythonEnv,
        @Nullable String label) {

    /** Most characters of a label. */
    public static final int LABEL_CHARS = 1000;

    /**
     * What a session is known by in its sandbox.
     *
     * @param language e.g. {@code python}
     * @param session 1 to 63 letters, digits, hyphens and underscores, the first a letter or digit
     */
    public record Name(String language, String session) {}

    /** Untrusted: what is missing or odd becomes a harmless value. */
    static Session parse(JsonNode json) {
        JsonNode uptime = json.path("uptime_s");
        JsonNode env = json.path("python_env");
        JsonNode label = json.path("label");
        return new Session(
                new Name(
                        json.path("language").asString(""), json.path("session").asString("")),
                json.path("state").asString(""),
                Math.max(0, json.path("executions").asLong(0)),
                uptime.isNumber() ? uptime.asDouble() : null,
                env.isString() ? env.asString() : null,
                label.isString() && label.asString().length() <= LABEL_CHARS ? label.asString() : null);
    }
}
