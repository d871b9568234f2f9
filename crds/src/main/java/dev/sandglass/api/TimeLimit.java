package dev.sandglass.api;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The deadlines that a sandbox may have of its own. The bounds are those of the schema. */
public enum TimeLimit {

    /** The operator suspends a pod that was unused for so long. */
    IDLE_TIMEOUT("idleTimeout", "720h"),

    /** Age at which a pod is suspended, used or not. */
    MAX_LIFETIME("maxLifetime", "720h"),

    /** A sandbox that was suspended for so long is deleted. */
    RETENTION("retention", "8760h");

    /** The least of each; a start takes some seconds, and shorter ones would end sandboxes before their first use. */
    public static final String LEAST = "10s";

    private final String field;
    private final String most;

    TimeLimit(String field, String most) {
        this.field = field;
        this.most = most;
    }

    /** Name of the field in {@code spec}. */
    public String field() {
        return field;
    }

    /** The most that the field may say. */
    public String most() {
        return most;
    }

    /** The field's text; null if the spec does not set it. */
    public @Nullable String textIn(SandboxSpec spec) {
        return switch (this) {
            case IDLE_TIMEOUT -> spec.idleTimeout();
            case MAX_LIFETIME -> spec.maxLifetime();
            case RETENTION -> spec.retention();
        };
    }

    /** What the sandbox has of its own; empty if the installation's value holds, or if the text breaks the rule. */
    public Optional<Duration> in(SandboxSpec spec) {
        return Optional.ofNullable(textIn(spec))
                .filter(text -> problem(text).isEmpty())
                .map(Durations::parse);
    }

    /** What is wrong with a text, as the rest of a sentence that begins with the field; empty if nothing is. */
    public Optional<String> problem(String text) {
        return isWithinBounds(text) ? Optional.empty() : Optional.of(rule());
    }

    private boolean isWithinBounds(String text) {
        Duration duration;
        try {
            duration = Durations.parse(text);
        } catch (IllegalArgumentException e) {
            return false;
        }
        return text.length() <= Durations.MAX_LENGTH
                && duration.compareTo(Durations.parse(LEAST)) >= 0
                && duration.compareTo(Durations.parse(most)) <= 0;
    }

    private String rule() {
        return "must be a duration from %s to %s in hours, minutes and seconds, such as 30m, 8h or 1h30m"
                .formatted(LEAST, most);
    }
}
