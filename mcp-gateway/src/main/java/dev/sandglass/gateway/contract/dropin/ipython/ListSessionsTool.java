package dev.sandglass.gateway.contract.dropin.ipython;

import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.DropInTool;
import dev.sandglass.gateway.contract.dropin.Place;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code list_sessions} (contracts.md P8). */
final class ListSessionsTool implements DropInTool {

    private static final ToolDefinition DEFINITION = new ToolDefinition(
            "list_sessions",
            "List sessions",
            "Lists the sessions with name, env, python, status (idle or busy), uptime_s and exec_count.",
            Schema.object().with("properties", Map.of()).keywords(),
            Schema.object()
                    .required("result", Schema.list("One entry for each session", session()))
                    .keywords(),
            ToolDefinition.Annotations.READS);

    private final Place place;
    private final Kernels kernels;
    private final Steps steps;

    ListSessionsTool(Place place, Kernels kernels, Steps steps) {
        this.place = place;
        this.kernels = kernels;
        this.steps = steps;
    }

    private static Schema session() {
        return Schema.object()
                .required("name", Schema.text("Name of the session"))
                .required("env", Schema.text("As it was given when the session began; else 'default'"))
                .required("python", Schema.text("Path of its interpreter"))
                .required("status", Schema.text("What it does").with("enum", List.of("idle", "busy")))
                .required("uptime_s", Schema.number("Seconds since it began").orNull())
                .required("exec_count", Schema.integer("Cells since it began"));
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
        SandboxRef ref = place.of(call);
        return kernels.of(ref)
                .map(known -> known.orElseThrow(
                        () -> new SandboxProblem.Unreachable(ref, "it did not tell its sessions in time", null)))
                .map(ListSessionsTool::answer);
    }

    private static ToolResult answer(List<Session> sessions) {
        ArrayNode list = JsonNodeFactory.instance.arrayNode();
        for (Session session : sessions) {
            list.addObject()
                    .put("name", SessionNames.text(session.name()))
                    .put("env", Kernels.env(session))
                    .put("python", Kernels.python(session))
                    .put("status", Kernels.status(session))
                    .put("uptime_s", session.uptimeSeconds())
                    .put("exec_count", session.executions());
        }
        var data = JsonNodeFactory.instance.objectNode();
        data.set("result", list);
        return Json.answer(list, data, List.of(), "ok", null);
    }
}
