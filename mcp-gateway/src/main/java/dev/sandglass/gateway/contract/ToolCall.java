package dev.sandglass.gateway.contract;

import dev.sandglass.gateway.action.Patience;
import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.execution.OutputListener;
import java.time.Duration;
import java.util.Optional;

/**
 * One call of a tool.
 *
 * @param caller whose rights count
 * @param arguments what the caller sent; not yet checked
 * @param progress hears the output while it comes
 * @param session that this contract gave the client and knows; empty if it has none
 */
public record ToolCall(Caller caller, Arguments arguments, OutputListener progress, Optional<String> session) {

    /** How the call waits for a sandbox that is not up: so long, or less for an impatient caller. */
    public Patience patience(Duration otherwise) {
        return new Patience(arguments.patience(otherwise), progress);
    }
}
