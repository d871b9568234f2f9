package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.sandbox.SandboxProblem;

/** A tool of this contract: it says what to do about a problem by the names of the others. */
public interface SandglassTool extends Tool {

    @Override
    default ToolResult refused(Throwable problem) {
        return problem instanceof SandboxProblem known
                ? ToolResult.error(NextSteps.told(known), ToolResult.REFUSED)
                : Tool.super.refused(problem);
    }
}
