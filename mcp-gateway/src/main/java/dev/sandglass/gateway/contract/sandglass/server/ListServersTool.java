package dev.sandglass.gateway.contract.sandglass.server;

import dev.sandglass.gateway.action.ToolServerActions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.sandbox.SandboxRef;
import reactor.core.publisher.Mono;

/** {@code mcp_list_servers}: which MCP servers a sandbox has, and their tools. */
final class ListServersTool implements McpServerTool {

    private final TenantAccess access;
    private final ToolServerActions servers;
    private final ToolSettings settings;
    private final ToolDefinition definition = new ToolDefinition(
            "mcp_list_servers",
            "List MCP servers",
            """
            Lists the MCP servers whose tools code in a sandbox can call, registered there or shared with other sandboxes, \
            whether they run, and their tools.""",
            SandboxArguments.schema().keywords(),
            ServerFacts.Listed.schema(),
            ToolDefinition.Annotations.READS);

    ListServersTool(TenantAccess access, ToolServerActions servers, ToolSettings settings) {
        this.access = access;
        this.servers = servers;
        this.settings = settings;
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        SandboxRef ref = SandboxArguments.read(call, access);
        return servers.list(ref)
                .map(known -> ToolResult.ok(
                        ServerText.of(known, ref.givenName(), settings.maxOutputChars()),
                        ServerFacts.Listed.of(ref, known)));
    }
}
