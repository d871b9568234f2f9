package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.SandboxFiles;
import dev.sandglass.gateway.execution.Sessions;
import dev.sandglass.gateway.port.PortAddresses;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.util.List;

/** The door of this room: all tools, in the order in which clients see them. */
public final class Tools {

    private Tools() {}

    /** Every tool of the endpoint {@code /mcp}. */
    public static List<Tool> all(
            TenantAccess access,
            Sandboxes sandboxes,
            Executions executions,
            PortAddresses ports,
            DeniedHosts denied,
            ToolSettings settings) {
        var notice = new DeniedNotice(denied);
        var runs = new SandboxRuns(sandboxes, executions, notice, settings);
        var query = new SandboxQuery(access, sandboxes);
        Sessions sessions = executions.sessions();
        SandboxFiles files = executions.files();
        return List.of(
                new StartTool(access, sandboxes, executions, ports, settings),
                new StopTool(access, sandboxes),
                new RunCodeTool(access, runs, settings),
                new RunCommandTool(access, runs, settings),
                new InstallPackagesTool(access, runs, settings),
                new GetExecutionTool(access, sandboxes, executions, notice, settings),
                new InterruptTool(access, sandboxes, sessions),
                new SessionTool(SessionTool.Deed.RESET, access, sandboxes, sessions),
                new SessionTool(SessionTool.Deed.CLOSE, access, sandboxes, sessions),
                new ReadFileTool(access, runs, files),
                new WriteFileTool(access, runs, files),
                new ListFilesTool(access, runs, files),
                new ManageFilesTool(access, runs, files),
                new ListTool(query, sessions, settings),
                new GetMetricsTool(query, executions, settings));
    }
}
