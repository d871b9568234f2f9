package dev.sandglass.gateway.contract.dropin;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.Optional;

/** A tool of an endpoint: it says what to do about a problem in that endpoint's words. */
public interface DropInTool extends Tool {

    /** The words of the endpoint. */
    Steps steps();

    /** Where its calls go. */
    Place place();

    @Override
    default Optional<Subject> subject(Caller caller, Optional<String> session) {
        return Optional.of(place().subject(caller, session));
    }

    @Override
    default ToolResult refused(Throwable problem) {
        return problem instanceof SandboxProblem known
                ? ToolResult.error(steps().told(known), ToolResult.REFUSED)
                : Tool.super.refused(problem);
    }
}
