package dev.sandglass.gateway.contract.dropin;

import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.execution.ExecutionResult;
import java.util.Optional;

/** What an endpoint whose kernels stay says of variables that are lost. */
public final class Losses {

    private Losses() {}

    /** That the sandbox was suspended before the call; empty if the sandbox's own warning says what was lost. */
    public static Optional<String> resumed(Run run) {
        ExecutionResult result = run.result();
        return result.kernelRestarted() && result.warning() != null
                ? Optional.empty()
                : Optional.ofNullable(run.resumed())
                        .map(why ->
                                "The sandbox had been suspended (%s) and was resumed: variables of earlier cells are lost."
                                        .formatted(why.reason()));
    }

    /** What else the sandbox warns of. */
    public static Optional<String> warning(ExecutionResult result, Steps steps) {
        return Optional.ofNullable(result.warning()).map(warning -> steps.told(warning, result.warningNext()));
    }
}
