package dev.sandglass.gateway.execution;

import java.util.Objects;
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
 * @param used whether anything was to run in it, before a reset or after: a sandbox begins with one of its own accord
 */
public record Session(
        Name name,
        String state,
        long executions,
        @Nullable Double uptimeSeconds,
        @Nullable String pythonEnv,
        @Nullable String label,
        boolean used) {

    /** Most characters of a label. */
    public static final int LABEL_CHARS = 1000;

    /** As much as a supervisor takes for an environment. */
    private static final int ENV_CHARS = 4096;

    private static final int WORD_CHARS = 63;

    /**
     * What a session is known by in its sandbox.
     *
     * @param language e.g. {@code python}
     * @param session 1 to 63 letters, digits, hyphens and underscores, the first a letter or digit
     */
    public record Name(String language, String session) {}

    /** Untrusted: what is missing, too long or odd becomes a harmless value. */
    static Session parse(JsonNode json) {
        JsonNode uptime = json.path("uptime_s");
        Name name = new Name(word(json, "language"), word(json, "session"));
        long executions = Math.max(0, json.path("executions").asLong(0));
        return new Session(
                name,
                word(json, "state"),
                executions,
                uptime.isNumber() ? uptime.asDouble() : null,
                text(json, "python_env", ENV_CHARS),
                text(json, "label", LABEL_CHARS),
                // Supervisors of an earlier version do not say it.
                json.path("used").asBoolean(executions > 0 || !name.session().equals("default")));
    }

    private static String word(JsonNode json, String field) {
        return Objects.requireNonNullElse(text(json, field, WORD_CHARS), "");
    }

    private static @Nullable String text(JsonNode json, String field, int most) {
        JsonNode text = json.path(field);
        return text.isString() && text.asString().length() <= most ? text.asString() : null;
    }
}
