package dev.sandglass.gateway.action;

import dev.sandglass.gateway.egress.UnreachedHost;
import dev.sandglass.gateway.execution.ExecutionResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a call that ran something, or reads on what was run, found out.
 *
 * @param result how the execution ended, or how far it got
 * @param resumed null if the sandbox was running
 * @param created whether the sandbox was made for it
 * @param unreached targets that the sandbox did not reach during it, oldest first
 */
public record Run(ExecutionResult result, @Nullable Resumed resumed, boolean created, List<UnreachedHost> unreached) {

    /** Keeps its own copy of the list. */
    public Run {
        unreached = List.copyOf(unreached);
    }
}
