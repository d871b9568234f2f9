package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.action.SandboxActions;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.sandbox.Deletion;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.stream.Collectors;
import reactor.core.publisher.Mono;

/** {@code sandbox_stop}: ends the pod and keeps the configuration, or deletes both (contracts.md M16, "After stop"). */
public final class StopTool implements SandglassTool {

    private static final int NAMED_FINALIZERS = 5;

    private final TenantAccess access;
    private final SandboxActions lifecycle;
    private final ToolDefinition definition;

    public StopTool(TenantAccess access, SandboxActions lifecycle) {
        this.access = access;
        this.lifecycle = lifecycle;
        this.definition = new ToolDefinition(
                "sandbox_stop",
                "Stop a sandbox",
                """
                Stops a sandbox when you are finished with it: processes and variables are gone, and files unless it has \
                a persistent workspace. sandbox_start brings it back.""",
                SandboxArguments.schema()
                        .optional(
                                "delete",
                                Schema.flag(
                                        "Delete its configuration and all files too; a workspace with 'keep' stays"))
                        .keywords(),
                SandboxAnswer.schema("stopped", "deleted"),
                ToolDefinition.Annotations.STOPS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        SandboxRef ref = SandboxArguments.read(call, access);
        boolean delete = call.arguments().flag("delete");
        String stopped = "Sandbox %s stopped successfully".formatted(ref.givenName());
        Mono<ToolResult> answer = delete
                ? lifecycle.delete(ref).map(done -> SandboxAnswer.of(ref, "deleted", stopped + told(done)))
                : lifecycle.stop(ref).then(Mono.fromSupplier(() -> SandboxAnswer.of(ref, "stopped", stopped)));
        return answer.onErrorMap(
                SandboxProblem.class, problem -> new SandboxProblem.Refused("Sandbox stop failed: " + told(problem)));
    }

    private static String told(SandboxProblem problem) {
        return problem instanceof SandboxProblem.NotFound missing
                ? missing.fact() + " There is nothing to stop; sandbox_list shows what there is."
                : NextSteps.told(problem);
    }

    private static String told(Deletion done) {
        if (!done.heldBy().isEmpty()) {
            return ". Its deletion is ordered, and its pod ends; finalizers keep the rest until their owners remove them: "
                    + done.heldBy().stream()
                            .limit(NAMED_FINALIZERS)
                            .map(ForeignText::name)
                            .collect(Collectors.joining(", "))
                    + ".";
        }
        return switch (done.workspace()) {
            case SCRATCH -> ". It is deleted, with its files.";
            case DELETED ->
                ". It is deleted; its workspace too, with all files, unless an earlier sandbox of this name kept it.";
            case KEPT ->
                ". It is deleted; its workspace is kept, and the next sandbox of this name that has one takes it again.";
        };
    }
}
