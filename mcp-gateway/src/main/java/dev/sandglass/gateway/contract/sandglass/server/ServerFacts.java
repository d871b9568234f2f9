package dev.sandglass.gateway.contract.sandglass.server;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.gateway.action.ToolServerActions;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.toolserver.KnownServer;
import dev.sandglass.gateway.toolserver.RegisteredServer;
import dev.sandglass.gateway.toolserver.ServerTool;
import dev.sandglass.gateway.toolserver.SharedServerState;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/** What programs are told of MCP servers. */
final class ServerFacts {

    private ServerFacts() {}

    private static Schema ofSandbox() {
        return Schema.object()
                .required("sandbox", Schema.text("Name of the sandbox"))
                .required("namespace", Schema.text("Tenant the sandbox belongs to"));
    }

    private static Schema schemaOfTools() {
        return Schema.list(
                "Its tools, in its own words",
                Schema.object()
                        .required("name", Schema.text("As the server calls it"))
                        .required("module", Schema.text("As code imports it, below mcptools.<server>"))
                        .required("description", Schema.text("Beginning of its description, on one line")));
    }

    /**
     * The answer to a registration.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param name of the server
     * @param state one word
     * @param folder where the functions are
     * @param server what it says of itself; null while it is being started
     * @param tools in its order
     * @param leftOut how many more there are
     * @param notes on the functions
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Registered(
            String sandbox,
            String namespace,
            String name,
            String state,
            String folder,
            @Nullable Info server,
            List<ServerTool> tools,
            int leftOut,
            List<String> notes) {

        static Registered of(SandboxRef ref, RegisteredServer server, @Nullable Info info) {
            return new Registered(
                    ref.givenName(),
                    ref.tenant(),
                    server.name(),
                    KnownServer.State.RUNNING.word(),
                    RegisteredServer.folder(server.name()),
                    info,
                    server.tools(),
                    server.leftOut(),
                    server.notes());
        }

        static Registered starting(SandboxRef ref, String name) {
            return new Registered(
                    ref.givenName(),
                    ref.tenant(),
                    name,
                    KnownServer.State.STARTING.word(),
                    RegisteredServer.folder(name),
                    null,
                    List.of(),
                    0,
                    List.of());
        }

        static Map<String, Object> schema() {
            return ofSandbox()
                    .required("name", Schema.text("Name of the server"))
                    .required(
                            "state",
                            Schema.text("Whether it can be called").with("enum", List.of("running", "starting")))
                    .required("folder", Schema.text("Where its functions are"))
                    .required(
                            "server",
                            Info.schema("What it says of itself; null while it is starting, and in a pod of its own")
                                    .orNull())
                    .required("tools", schemaOfTools())
                    .required("left_out", Schema.integer("How many more tools it has"))
                    .required("notes", Schema.list("Notes on the functions", Schema.ofType("string")))
                    .optional(ToolResult.WARNING, Schema.text("What a caller has to know besides; left out if nothing"))
                    .keywords();
        }
    }

    /**
     * What a server says of itself.
     *
     * @param name its own name
     * @param version its version
     * @param protocolVersion the revision of MCP that it speaks
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Info(String name, String version, String protocolVersion) {

        static Info of(RegisteredServer.Info info) {
            return new Info(info.name(), info.version(), info.protocolVersion());
        }

        static Schema schema(String description) {
            return Schema.object()
                    .with("description", description)
                    .required("name", Schema.text("Its own name"))
                    .required("version", Schema.text("Its version"))
                    .required("protocol_version", Schema.text("The revision of MCP that it speaks"));
        }
    }

    /**
     * The answer to the question for all servers.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param servers in the order of the sandbox
     * @param shared those outside of it
     */
    record Listed(String sandbox, String namespace, List<Entry> servers, List<Shared> shared) {

        static Listed of(SandboxRef ref, ToolServerActions.Listed servers) {
            return new Listed(
                    ref.givenName(),
                    ref.tenant(),
                    servers.own().stream().map(Entry::of).toList(),
                    servers.shared().stream().map(Shared::of).toList());
        }

        static Map<String, Object> schema() {
            Schema server = Schema.object()
                    .required("name", Schema.text("Name of the server"))
                    .required("state", Schema.text("running, starting, ended or unknown"))
                    .required("origin", Schema.text("Its program, or its address without path and query"))
                    .required("folder", Schema.text("Where its functions are"))
                    .required("tools", schemaOfTools())
                    .required("left_out", Schema.integer("How many more tools it has"));
            return ofSandbox()
                    .required("servers", Schema.list("One entry for each server in the sandbox", server))
                    .required("shared", Schema.list("Servers outside of the sandbox", Shared.schema()))
                    .keywords();
        }
    }

    /**
     * A server outside of the sandbox.
     *
     * @param name of the server
     * @param state one word
     * @param detail why it cannot be called, or what it waits for
     * @param tools the first of those that code may call; empty while they are not known
     * @param leftOut how many more there are
     * @param own whether it was registered for this sandbox alone; else other sandboxes use it too
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Shared(
            String name, String state, String detail, List<SharedServerState.Tool> tools, int leftOut, boolean own) {

        static Shared of(SharedServerState server) {
            return new Shared(
                    server.name(),
                    server.state().word(),
                    server.detail(),
                    server.tools().map(SharedServerState.Tools::known).orElseGet(List::of),
                    server.tools().map(SharedServerState.Tools::leftOut).orElse(0),
                    server.ofAgent());
        }

        static Schema schema() {
            return Schema.object()
                    .required("name", Schema.text("Name of the server"))
                    .required("state", Schema.text("running, starting, idle (a call starts it) or failed"))
                    .required("detail", Schema.text("Why it cannot be called; mostly empty"))
                    .required(
                            "tools",
                            Schema.list(
                                    "Tools that code may call, in its own words; empty until they are known",
                                    Schema.object()
                                            .required("name", Schema.text("As the server calls it"))
                                            .required("description", Schema.text("Beginning of its description"))))
                    .required("left_out", Schema.integer("How many more tools it has"))
                    .required(
                            "own",
                            Schema.flag(
                                    "Whether it was registered for this sandbox alone; else an administrator shares it"));
        }
    }

    /**
     * One server.
     *
     * @param name of the server
     * @param state one word
     * @param origin its program or address
     * @param folder where its functions are
     * @param tools in its order
     * @param leftOut how many more there are
     */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Entry(String name, String state, String origin, String folder, List<ServerTool> tools, int leftOut) {

        static Entry of(KnownServer server) {
            return new Entry(
                    server.name(),
                    server.state().word(),
                    server.origin(),
                    RegisteredServer.folder(server.name()),
                    server.tools(),
                    server.leftOut());
        }
    }

    /**
     * The answer to a removal.
     *
     * @param sandbox the name as the caller wrote it
     * @param namespace the tenant
     * @param name of the server
     * @param state always {@code removed}
     */
    record Removed(String sandbox, String namespace, String name, String state) {

        static Removed of(SandboxRef ref, String name) {
            return new Removed(ref.givenName(), ref.tenant(), name, "removed");
        }

        static Map<String, Object> schema() {
            return ofSandbox()
                    .required("name", Schema.text("Name of the server"))
                    .required("state", Schema.text("What became of it").with("enum", List.of("removed")))
                    .keywords();
        }
    }
}
