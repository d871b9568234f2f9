package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.CutOutput;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** {@code sandbox_get_execution}: reads an execution's output on, whichever replica started it. */
final class GetExecutionTool implements Tool {

    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final Executions executions;
    private final DeniedNotice denied;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    GetExecutionTool(
            TenantAccess access,
            Sandboxes sandboxes,
            Executions executions,
            DeniedNotice denied,
            ToolSettings settings) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.executions = executions;
        this.denied = denied;
        this.settings = settings;
        this.definition = new ToolDefinition(
                "sandbox_get_execution",
                "Read an execution",
                """
                Returns the output of an execution from an offset on, and how the execution stands or ended. Use it \
                after an answer with status 'running' or with truncated output, passing its execution_id and \
                next_offset. sandbox_list with 'sandbox' tells the ids of runs whose answer never came.""",
                Schema.object()
                        .required(
                                "execution_id",
                                Schema.text("As an earlier answer or sandbox_list gave it")
                                        .maxLength(ExecutionId.MAX_LENGTH))
                        .optional(
                                "offset",
                                Schema.integer(
                                                "First byte of output to return, default 0; at most as many as there are so far")
                                        .with("minimum", 0))
                        .optional("wait", ExecutionArguments.waitSchema(settings))
                        .optional("max_output_chars", ExecutionArguments.pageSchema(settings))
                        .keywords(),
                ExecutionAnswer.schema(),
                ToolDefinition.Annotations.READS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Arguments arguments = call.arguments();
        String given = arguments.requiredText("execution_id", 1000);
        long offset = arguments.offset("offset");
        Duration waitFor = ExecutionArguments.waitFor(arguments, settings);
        int maxOutputChars = ExecutionArguments.maxOutputChars(arguments, settings);
        ExecutionId id = ExecutionArguments.executionId(given);
        long since = denied.now();
        TenantAccess.Tenant tenant = access.tenant(call.caller(), Optional.of(id.tenant()));
        return sandboxes
                .findByUid(tenant.name(), tenant.namespace(), id.sandboxUid(), id.incarnation())
                .flatMap(state -> running(state, id)
                        .map(sandbox -> {
                            sandboxes.active(sandbox, waitFor);
                            return executions.read(sandbox, id, offset, waitFor, maxOutputChars, call.progress());
                        })
                        .orElseGet(() -> Mono.just(lost(state, id))))
                .flatMap(result -> denied.told(id.sandboxUid(), result, since)
                        .map(refused -> ExecutionAnswer.of(result, null, refused)));
    }

    /** The sandbox in which the execution still lives: the same incarnation, and running. */
    private static Optional<RunningSandbox> running(Optional<SandboxState> found, ExecutionId id) {
        return found.flatMap(state -> state instanceof SandboxState.Running(RunningSandbox sandbox)
                        ? Optional.of(sandbox)
                        : Optional.empty())
                .filter(sandbox -> sandbox.incarnation() == id.incarnation());
    }

    private static ExecutionResult lost(Optional<SandboxState> found, ExecutionId id) {
        String why = PendingWords.of(found).orElse("its sandbox was stopped, suspended, restarted or deleted");
        return new ExecutionResult(
                ExecutionStatus.LOST,
                id,
                "",
                "",
                null,
                null,
                null,
                List.of(),
                0,
                null,
                null,
                0,
                CutOutput.NONE,
                0,
                0,
                false,
                "The pod in which this execution ran is gone, and its output with it: " + why
                        + ". Call sandbox_start and run the code again.",
                null,
                0);
    }
}
