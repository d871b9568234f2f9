package dev.sandglass.gateway.contract.sandglass.server;

import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.config.ServerFields;
import dev.sandglass.gateway.contract.sandglass.sandbox.NextSteps;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;

/** A tool for MCP servers: its audit line says in one word why a server was refused. */
interface McpServerTool extends SandglassTool {

    @Override
    default ToolResult refused(Throwable problem) {
        return problem instanceof ServerRefused known
                ? ToolResult.error(NextSteps.told(known), ServerFields.outcome(known))
                : SandglassTool.super.refused(problem);
    }
}
