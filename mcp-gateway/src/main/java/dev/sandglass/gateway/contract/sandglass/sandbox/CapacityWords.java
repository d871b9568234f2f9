package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.gateway.sandbox.NextStep;
import java.time.Duration;
import java.util.stream.Collectors;

/** Which sandboxes a caller could stop when the nodes are full, in the words of this contract's tools. Pure. */
final class CapacityWords {

    private CapacityWords() {}

    /** Goes on with the sentence that says which resource is short. */
    static String of(NextStep.FreeCapacity step) {
        if (step.running() == 0) {
            return "; no other sandbox runs in namespace '%s', so there is none to stop. Call sandbox_start again later."
                    .formatted(step.tenant());
        }
        String running = step.running() == 1
                ? "1 other sandbox runs in namespace '%s'".formatted(step.tenant())
                : "%d other sandboxes run in namespace '%s'".formatted(step.running(), step.tenant());
        return "; %s, %s. Stop one that is not needed with sandbox_stop, then call sandbox_start again."
                .formatted(running, idle(step));
    }

    private static String idle(NextStep.FreeCapacity step) {
        if (step.idle().isEmpty()) {
            return step.running() == 1 ? "not known to be idle" : "none of them known to be idle";
        }
        return step.idle().stream()
                .map(sandbox -> "'%s' (at least %s)".formatted(sandbox.name(), minutes(sandbox.atLeast())))
                .collect(Collectors.joining(", ", "idle longest: ", ""));
    }

    private static String minutes(Duration duration) {
        long hours = duration.toHours();
        return hours == 0
                ? "%d min".formatted(duration.toMinutes())
                : "%d h %d min".formatted(hours, duration.toMinutesPart());
    }
}
