package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import reactor.core.publisher.Mono;

/** {@code sandbox_stop}: ends the pod and keeps the configuration, or deletes both (contracts.md M16, "After stop"). */
final class StopTool implements Tool {

    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final ToolDefinition definition;

    StopTool(TenantAccess access, Sandboxes sandboxes) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.definition = new ToolDefinition(
                "sandbox_stop",
                "Stop a sandbox",
                """
                Stops a sandbox: its processes, variables and scratch files are gone, its configuration stays for a \
                later sandbox_start. Always call this when you are finished with a sandbox.""",
                SandboxArguments.schema()
                        .optional("delete", Schema.flag("Forget the configuration as well; default false"))
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
        Mono<Void> done = delete ? sandboxes.delete(ref) : sandboxes.stop(ref);
        return done.then(Mono.fromSupplier(() -> SandboxAnswer.of(
                        ref,
                        delete ? "deleted" : "stopped",
                        "Sandbox %s stopped successfully".formatted(ref.givenName()))))
                .onErrorMap(
                        SandboxProblem.class,
                        problem -> new SandboxProblem.Refused("Sandbox stop failed: " + problem.text()));
    }
}
