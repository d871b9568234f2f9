package dev.sandglass.gateway.contract.sandglass.server;

import dev.sandglass.gateway.action.ToolServerActions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.config.ServerFields;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.sandbox.SandboxRef;
import reactor.core.publisher.Mono;

/** {@code mcp_remove_server}: ends an MCP server of a sandbox and forgets it. */
final class RemoveServerTool implements McpServerTool {

    private final TenantAccess access;
    private final ToolServerActions servers;
    private final ToolDefinition definition = new ToolDefinition(
            "mcp_remove_server",
            "Remove an MCP server",
            """
            Ends an MCP server of a sandbox and forgets it.""",
            SandboxArguments.schema()
                    .required("name", Schema.text("As it was registered"))
                    .keywords(),
            ServerFacts.Removed.schema(),
            ToolDefinition.Annotations.ENDS);

    RemoveServerTool(TenantAccess access, ToolServerActions servers) {
        this.access = access;
        this.servers = servers;
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        SandboxRef ref = SandboxArguments.read(call, access);
        String name = ServerFields.name(call.arguments(), "name");
        return servers.remove(ref, name)
                .then(Mono.fromSupplier(() -> ToolResult.ok(
                        "MCP server '%s' of sandbox '%s' is removed.".formatted(name, ref.givenName()),
                        ServerFacts.Removed.of(ref, name))));
    }
}
