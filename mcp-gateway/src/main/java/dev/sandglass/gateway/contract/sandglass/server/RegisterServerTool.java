package dev.sandglass.gateway.contract.sandglass.server;

import dev.sandglass.gateway.action.Patience;
import dev.sandglass.gateway.action.ToolServerActions;
import dev.sandglass.gateway.action.ToolServerActions.Registered;
import dev.sandglass.gateway.action.Used;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.Variables;
import dev.sandglass.gateway.contract.config.ServerFields;
import dev.sandglass.gateway.contract.config.ServerPlacement;
import dev.sandglass.gateway.contract.sandglass.sandbox.ResumeNotice;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.Registration;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.Mono;

/** {@code mcp_register_server}: starts an MCP server, and makes its tools functions for the code of a sandbox. */
final class RegisterServerTool implements McpServerTool {

    private static final Duration LEAST_TIMEOUT = Duration.ofSeconds(1);

    private final TenantAccess access;
    private final ToolServerActions servers;
    private final ToolSettings settings;
    private final ToolDefinition definition = new ToolDefinition(
            "mcp_register_server",
            "Register an MCP server",
            """
            Starts an MCP server ('command') or connects to one ('url'), and makes its tools Python functions in the sandbox: \
            from mcptools.NAME.TOOL import Params, run. With 'placement' 'own', the default with 'env' or 'headers', it runs \
            in a pod of its own: code cannot read these. With 'sandbox' it runs in the sandbox's pod and sees its files; code \
            can read 'env' and 'headers'. A name that is taken is registered anew.""",
            SandboxArguments.schema()
                    .required("name", Schema.text("Python identifier, under which code imports it"))
                    .optional("command", Schema.text("Program, such as 'npx', 'uvx' or 'python'"))
                    .optional("args", Schema.list("Its arguments", Schema.ofType("string")))
                    .optional("env", Variables.schema("Its variables"))
                    .optional("cwd", Schema.text("Default /workspace"))
                    .optional("url", Schema.text("Instead of 'command'"))
                    .optional("headers", Schema.list("With 'url', each 'Name: value'", Schema.ofType("string")))
                    .optional(
                            "transport",
                            Schema.text("With 'url', default streamable_http")
                                    .with("enum", List.of("streamable_http", "sse")))
                    .optional("placement", Schema.ofType("string").with("enum", List.of("own", "sandbox")))
                    .optional(
                            "allowed_domains",
                            Schema.list("Hosts one in a pod of its own may reach", Schema.ofType("string")))
                    .optional(
                            "timeout",
                            Schema.seconds(
                                    "In the sandbox, seconds for its start, default %d"
                                            .formatted(Registration.TIMEOUT.toSeconds()),
                                    LEAST_TIMEOUT,
                                    Registration.MAX_TIMEOUT))
                    .keywords(),
            ServerFacts.Registered.schema(),
            ToolDefinition.Annotations.RUNS);

    RegisterServerTool(TenantAccess access, ToolServerActions servers, ToolSettings settings) {
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
        Arguments arguments = call.arguments();
        SandboxRef ref = SandboxArguments.read(call, access);
        String name = ServerFields.name(arguments, "name");
        Duration timeout = arguments
                .seconds("timeout", LEAST_TIMEOUT, Registration.MAX_TIMEOUT)
                .orElse(Registration.TIMEOUT);
        Registration registration = ServerFields.registration(name, arguments, timeout);
        Duration atMost = arguments.patience(settings.waitFor());
        Patience patience = call.patience(settings.startWait());
        Mono<Used<Registered>> registering =
                switch (ServerPlacement.read(arguments, registration)) {
                    case SANDBOX -> servers.register(ref, registration, atMost, patience);
                    case OWN ->
                        servers.registerApart(
                                ref,
                                new Wanted(
                                        registration,
                                        ServerPlacement.domains(arguments).orElse(null),
                                        call.caller().name()),
                                atMost,
                                patience);
                };
        return registering.map(used -> ResumeNotice.added(used, registered -> answer(ref, registration, registered)));
    }

    private ToolResult answer(SandboxRef ref, Registration registration, Registered registered) {
        return switch (registered) {
            case Registered.Running(RegisteredServer server) -> {
                ToolResult result = ToolResult.ok(
                        ServerText.of(server, ref.givenName(), settings.maxOutputChars()),
                        ServerFacts.Registered.of(ref, server, ServerFacts.Info.of(server.info())));
                yield ServerPlacement.warning(registration).map(result::and).orElse(result);
            }
            case Registered.RunningApart(RegisteredServer server) ->
                ToolResult.ok(
                        ServerText.apart(server, ref.givenName(), settings.maxOutputChars()),
                        ServerFacts.Registered.of(ref, server, null));
            case Registered.StillStarting(boolean replaces) ->
                new ToolResult(
                        List.of(new ToolResult.Content.Text(ServerText.starting(registration.name(), replaces))),
                        ServerFacts.Registered.starting(ref, registration.name()),
                        false,
                        "starting",
                        null);
        };
    }
}
