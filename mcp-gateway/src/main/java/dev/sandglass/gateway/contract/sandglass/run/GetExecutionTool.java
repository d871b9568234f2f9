package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.action.Reading;
import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.action.Runs;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.egress.UnreachedHost;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.SandboxState;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import reactor.core.publisher.Mono;

/** {@code sandbox_get_execution}: reads an execution's output on, whichever replica started it. */
public final class GetExecutionTool implements SandglassTool {

    private final TenantAccess access;
    private final Runs runs;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    public GetExecutionTool(TenantAccess access, Runs runs, ToolSettings settings) {
        this.access = access;
        this.runs = runs;
        this.settings = settings;
        this.definition = new ToolDefinition(
                        "sandbox_get_execution",
                        "Read an execution",
                        """
                Returns the output of an execution from 'offset' on, and how it stands or ended. Use it after an answer \
                that is 'running' or cut.""",
                        Schema.object()
                                .required("execution_id", Schema.text("From an earlier answer or sandbox_list"))
                                .optional("offset", Schema.integer("First byte of output, default 0"))
                                .optional("wait", ExecutionArguments.waitSchema(settings))
                                .optional("max_output_chars", ExecutionArguments.pageSchema(settings))
                                .keywords(),
                        ExecutionAnswer.schema(),
                        ToolDefinition.Annotations.READS)
                .withLongAnswers();
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    /** The id says which sandbox it is; models name it all the same, as for all other tools. */
    @Override
    public Set<String> knownArguments() {
        Set<String> known = new HashSet<>(SandglassTool.super.knownArguments());
        known.addAll(Set.of("sandbox", "namespace"));
        return known;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Arguments arguments = call.arguments();
        String given = arguments.requiredText("execution_id", 1000);
        long offset = arguments.offset("offset");
        var part = new Runs.Part(
                offset,
                ExecutionArguments.waitFor(arguments, settings),
                ExecutionArguments.maxOutputChars(arguments, ExecutionArguments.pageChars(settings)));
        ExecutionId id = ExecutionArguments.executionId(given);
        TenantAccess.Tenant tenant = access.tenant(call.caller(), Optional.of(id.tenant()));
        return runs.read(tenant, id, part, call.progress()).map(reading -> switch (reading) {
            case Reading.Page(Run run) -> ExecutionAnswer.of(run);
            case Reading.PodGone(ExecutionId gone, Optional<SandboxState> sandbox, List<UnreachedHost> unreached) ->
                ExecutionAnswer.of(new Run(lost(gone, sandbox), null, false, unreached));
        });
    }

    private static ExecutionResult lost(ExecutionId id, Optional<SandboxState> found) {
        String why = found.flatMap(SandboxState::condition)
                .orElse("its sandbox was stopped, suspended, restarted or deleted");
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
                "The pod in which this execution ran is gone, and its output with it: " + why + ".",
                NextStep.Plain.START_AND_RERUN,
                null,
                null,
                0,
                List.of());
    }
}
