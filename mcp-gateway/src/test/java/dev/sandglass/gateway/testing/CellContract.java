package dev.sandglass.gateway.testing;

import dev.sandglass.gateway.action.Absent;
import dev.sandglass.gateway.action.Actions;
import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Offer;
import dev.sandglass.gateway.contract.Query;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import reactor.core.publisher.Mono;

/**
 * A contract as small as one can be: at {@code /mcp/cell} one tool runs a cell in the sandbox that the URL names, and
 * answers in words of its own.
 */
public final class CellContract implements Contract {

    /** Its only tool. */
    public static final String TOOL = "execute_cell";

    private final Actions actions;
    private final TenantAccess access;

    /** The contract over these use cases. */
    public CellContract(Actions actions, TenantAccess access) {
        this.actions = actions;
        this.access = access;
    }

    @Override
    public String path() {
        return "cell";
    }

    @Override
    public Offer offer(Query query) {
        List<String> sandboxes = query.values("sandbox");
        if (sandboxes.size() > 1) {
            throw new InvalidArgument("'sandbox' in the URL must be one name");
        }
        return new Offer(
                "cells",
                "Cells",
                "Runs one cell.",
                List.of(),
                List.of(new CellTool(sandboxes.stream().findFirst().orElse("box"))),
                true);
    }

    private final class CellTool implements Tool {
        private static final Duration SOON = Duration.ofSeconds(10);

        private final String sandbox;
        private final ToolDefinition definition;

        private CellTool(String sandbox) {
            this.sandbox = sandbox;
            this.definition = new ToolDefinition(
                    TOOL,
                    "Execute a cell",
                    "Runs a cell in " + sandbox + ".",
                    Schema.object().required("code", Schema.text("The cell")).keywords(),
                    null,
                    ToolDefinition.Annotations.RUNS);
        }

        @Override
        public ToolDefinition definition() {
            return definition;
        }

        @Override
        public Mono<ToolResult> call(ToolCall call) {
            var request = new ExecutionRequest.Code(
                    "python",
                    "default",
                    null,
                    call.arguments().requiredText("code", 1000),
                    Map.of(),
                    new ExecutionRequest.Limits(SOON, SOON, false, 5000));
            return actions.runs()
                    .run(
                            access.sandbox(call.caller(), Optional.empty(), sandbox),
                            request,
                            new Absent.Refused(),
                            call.patience(SOON))
                    .map(CellTool::answer);
        }

        @Override
        public ToolResult refused(Throwable problem) {
            String why = problem instanceof SandboxProblem known ? known.fact() : String.valueOf(problem.getMessage());
            return new ToolResult(
                    List.of(new ToolResult.Content.Text("No output: " + why)), null, true, "refused", null);
        }

        private static ToolResult answer(Run run) {
            String first =
                    run.resumed() == null ? "" : "(was away: " + run.resumed().reason() + ") ";
            return new ToolResult(
                    List.of(new ToolResult.Content.Text(
                            first + "Out: " + run.result().stdout())),
                    null,
                    run.result().status().isError(),
                    run.result().status().word(),
                    run.result().id().toString());
        }
    }
}
