package dev.sandglass.gateway.contract.dropin.ipybox;

import dev.sandglass.gateway.action.Patience;
import dev.sandglass.gateway.action.ToolServerActions;
import dev.sandglass.gateway.action.ToolServerActions.Placed;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.Variables;
import dev.sandglass.gateway.contract.config.ServerFields;
import dev.sandglass.gateway.contract.config.ServerPlacement;
import dev.sandglass.gateway.contract.dropin.DropInTool;
import dev.sandglass.gateway.contract.dropin.Place;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.ServerTool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/** {@code register_mcp_server} (contracts.md I6, I7): a registration again takes the place of the one before. */
final class RegisterMcpServerTool implements DropInTool {

    private static final String NAME = "server_name";
    private static final String PARAMS = "server_params";

    /** {@code type} stands in the configurations of many clients, and says what the other fields say. */
    private static final Set<String> KNOWN = Set.of(
            "command", "args", "env", "cwd", "url", "headers", "transport", "type", "placement", "allowed_domains");

    private static final JsonMapper JSON = JsonMapper.shared();

    private static final ToolDefinition DEFINITION = new ToolDefinition(
            "register_mcp_server",
            "Register an MCP server",
            """
            Starts an MCP server ('command'), or connects to one ('url'), writes a typed API for its tools to \
            mcptools/<server_name>/, and returns their module names. In cells: from mcptools.<server_name>.<tool> import \
            Params, run. With 'env' or 'headers' it runs in a pod of its own: code cannot read these. With 'placement' \
            'sandbox' it runs in the sandbox and sees its files; code can read 'env' and 'headers'.""",
            Schema.object()
                    .required(NAME, Schema.text("A Python identifier"))
                    .required(
                            PARAMS,
                            Schema.object()
                                    .with("description", "Either 'command' or 'url'")
                                    .optional("command", Schema.text("Program, such as 'npx' or 'uvx'"))
                                    .optional("args", Schema.list("Its arguments", Schema.ofType("string")))
                                    .optional("env", Variables.schema("Its variables"))
                                    .optional("url", Schema.text("Of a server elsewhere"))
                                    .optional(
                                            "headers",
                                            Schema.list("With 'url', each 'Name: value'", Schema.ofType("string")))
                                    .optional(
                                            ServerPlacement.FIELD,
                                            Schema.ofType("string").with("enum", List.of("own", "sandbox")))
                                    .optional(
                                            ServerPlacement.DOMAINS,
                                            Schema.list(
                                                    "Hosts one in a pod of its own may reach",
                                                    Schema.ofType("string"))))
                    .keywords(),
            Schema.object()
                    .required("result", Schema.list("Modules below mcptools.<server_name>", Schema.ofType("string")))
                    .keywords(),
            ToolDefinition.Annotations.RUNS);

    private final Place place;
    private final ToolServerActions servers;
    private final Steps steps;
    private final ToolSettings settings;

    RegisterMcpServerTool(Place place, ToolServerActions servers, Steps steps, ToolSettings settings) {
        this.place = place;
        this.servers = servers;
        this.steps = steps;
        this.settings = settings;
    }

    @Override
    public ToolDefinition definition() {
        return DEFINITION;
    }

    @Override
    public Steps steps() {
        return steps;
    }

    @Override
    public Place place() {
        return place;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        String name = ServerFields.name(call.arguments(), NAME);
        Arguments params = call.arguments()
                .object(PARAMS, KNOWN)
                .orElseThrow(() -> new InvalidArgument("Missing required '" + PARAMS + "' parameter"));
        Registration registration = ServerFields.registration(name, params, Registration.TIMEOUT);
        SandboxRef ref = place.of(call);
        Patience patience = call.patience(settings.startWait());
        return switch (ServerPlacement.read(params, registration)) {
            case OWN -> {
                var wanted = new Wanted(
                        registration,
                        ServerPlacement.domains(params).orElse(null),
                        call.caller().name());
                yield servers.registerApart(ref, wanted, place.absent(call), patience)
                        .map(placed -> answer(placed, ref, Optional.empty()));
            }
            case SANDBOX ->
                servers.register(ref, registration, place.absent(call), patience)
                        .map(placed -> answer(placed, ref, ServerPlacement.warning(registration)));
        };
    }

    private ToolResult answer(Placed placed, SandboxRef ref, Optional<String> warning) {
        ArrayNode modules = JSON.createArrayNode();
        placed.server().tools().stream().map(ServerTool::module).forEach(modules::add);
        List<String> notes = notes(placed, ref);
        warning.ifPresent(notes::add);
        return ToolResult.ok(FencedText.of(modules.toString(), notes), Map.of("result", modules));
    }

    private List<String> notes(Placed placed, SandboxRef ref) {
        var notes = new ArrayList<String>();
        if (placed.created() && place.isNamed()) {
            notes.add("Sandbox '%s' was not there: this one is new.".formatted(ref.givenName()));
        }
        if (placed.resumed() != null) {
            notes.add("The sandbox had been suspended (%s) and was resumed: variables of earlier cells are lost."
                    .formatted(placed.resumed().reason()));
        }
        if (placed.server().leftOut() > 0) {
            notes.add("%d more tool(s) have no function."
                    .formatted(placed.server().leftOut()));
        }
        return notes;
    }

    /** The sandbox calls the arguments by the names that its own protocol has for them. */
    @Override
    public ToolResult refused(Throwable problem) {
        if (!(problem instanceof ServerRefused known)) {
            return DropInTool.super.refused(problem);
        }
        String argument = known.argument().equals("name") ? NAME : PARAMS + "." + known.argument();
        String told = known.argument().isEmpty() ? steps.told(known) : "'" + argument + known.behindArgument();
        return ToolResult.error(told, ServerFields.outcome(known));
    }
}
