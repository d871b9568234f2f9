package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.Reason;
import dev.sandglass.gateway.action.Resumed;
import dev.sandglass.gateway.action.Used;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a caller has to know whose call brought a suspended sandbox back: why it was gone, and what is lost. */
public final class ResumeNotice {

    private ResumeNotice() {}

    /** The notice for the reason of the Suspended condition. */
    public static String of(String reason) {
        return "The sandbox was suspended%s, and was resumed for this call: variables of earlier calls were lost, so were"
                        .formatted(because(reason))
                + " files outside a persistent workspace.";
    }

    /**
     * The answer of a short use of a sandbox, with the notice if that was resumed for it.
     *
     * @param rendering of what was done
     */
    public static <T> ToolResult added(Used<T> used, Function<T, ToolResult> rendering) {
        return switch (used) {
            case Used.Done<T>(T value, @Nullable Resumed resumed) -> {
                ToolResult answer = rendering.apply(value);
                yield resumed == null ? answer : answer.warned(of(resumed.reason()));
            }
            case Used.Refused<T>(SandboxProblem.Refused problem, Resumed resumed) ->
                throw new SandboxProblem.Refused(NextSteps.told(problem) + " " + of(resumed.reason()));
        };
    }

    private static String because(String reason) {
        Optional<Reason> known = Reason.of(reason);
        if (known.equals(Optional.of(Reason.IDLE))) {
            return " because nobody used it";
        }
        return known.equals(Optional.of(Reason.MAX_LIFETIME))
                ? " because it reached its maximum lifetime"
                : " (%s)".formatted(reason);
    }
}
