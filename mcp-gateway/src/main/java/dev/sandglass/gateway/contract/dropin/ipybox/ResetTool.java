package dev.sandglass.gateway.contract.dropin.ipybox;

import dev.sandglass.gateway.action.SessionActions;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.DropInTool;
import dev.sandglass.gateway.contract.dropin.Place;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.util.Map;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.JsonNodeFactory;

/** {@code reset} (contracts.md I13). */
final class ResetTool implements DropInTool {

    private static final String DONE = "The kernel is new: variables are gone, packages and files stay.";

    private static final ToolDefinition DEFINITION = new ToolDefinition(
            "reset",
            "Reset the kernel",
            "Begins with a new kernel: variables are gone, packages and files stay.",
            Schema.object().with("properties", Map.of()).keywords(),
            CellAnswer.schema(),
            ToolDefinition.Annotations.ENDS);

    private final Place place;
    private final SessionActions sessions;
    private final Steps steps;

    ResetTool(Place place, SessionActions sessions, Steps steps) {
        this.place = place;
        this.sessions = sessions;
        this.steps = steps;
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

    /** A sandbox that is not there, or sleeps, begins with a new kernel anyway. */
    @Override
    public Mono<ToolResult> call(ToolCall call) {
        return sessions.reset(place.of(call), IpyboxContract.KERNEL)
                .onErrorReturn(SandboxProblem.NotFound.class, true)
                .onErrorReturn(SandboxProblem.Asleep.class, true)
                .map(_ -> ToolResult.ok(
                        DONE, JsonNodeFactory.instance.objectNode().put("result", DONE)));
    }
}
