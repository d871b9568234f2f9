package dev.sandglass.operator.lifecycle;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.ForeignText;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * What a condition says.
 *
 * @param status {@code True}, {@code False} or {@code Unknown}
 * @param reason one of the words that the API promises for that condition
 * @param message a sentence; it may quote containers, nodes and the resource's author
 */
public record Saying(String status, String reason, String message) {

    /**
     * The condition, which keeps its transition time as long as its status is the same.
     *
     * @param former as the resource's status has it
     * @param of the resource
     */
    public Condition asCondition(String type, Optional<Condition> former, HasMetadata of, Instant now) {
        String since = former.filter(told -> status.equals(told.getStatus()))
                .map(Condition::getLastTransitionTime)
                .orElseGet(() -> now.truncatedTo(ChronoUnit.SECONDS).toString());
        return new ConditionBuilder()
                .withType(type)
                .withStatus(status)
                .withReason(reason)
                .withMessage(bounded(message))
                .withLastTransitionTime(since)
                .withObservedGeneration(of.getMetadata().getGeneration())
                .build();
    }

    /** On one line, and as long as the schema takes it; a mark says that the end is missing. */
    private static String bounded(String message) {
        String line = ForeignText.line(message, ConditionType.MAX_MESSAGE);
        return line.length() <= ConditionType.MAX_MESSAGE
                ? line
                : ForeignText.line(message, ConditionType.MAX_MESSAGE - 1);
    }
}
