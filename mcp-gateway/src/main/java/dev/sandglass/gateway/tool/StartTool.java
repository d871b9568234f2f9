package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;

/**
 * {@code sandbox_start}: creates or resumes a sandbox and waits until a kernel answers (contracts.md M5 to M15). Fails as
 * soon as the cause is known; a start that only takes long is told as such and goes on.
 */
final class StartTool implements Tool {

    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final Executions executions;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    StartTool(TenantAccess access, Sandboxes sandboxes, Executions executions, ToolSettings settings) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.executions = executions;
        this.settings = settings;
        this.definition = new ToolDefinition(
                "sandbox_start",
                "Start a sandbox",
                """
                Starts a sandbox of that name, creating it if there is none, and waits until it can run code. Call this \
                before running code or commands. Starting a running sandbox is harmless. Always stop the sandbox with \
                sandbox_stop when done, to free its resources.""",
                SandboxArguments.schema()
                        .optional("config", StartConfig.schema())
                        .keywords(),
                SandboxAnswer.schema("running", "starting", "unverified"),
                ToolDefinition.Annotations.STARTS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        SandboxRef ref = SandboxArguments.read(call, access);
        SandboxConfig config = StartConfig.read(call.arguments());
        Duration patience = config.image() == null ? settings.startWait() : settings.startWaitWithImage();
        return sandboxes
                .start(ref, config, call.caller().name())
                .flatMap(sandbox -> verified(ref, sandbox))
                .timeout(patience)
                .onErrorResume(TimeoutException.class, late -> Mono.just(stillStarting(ref)))
                .onErrorMap(
                        SandboxProblem.class,
                        problem -> new SandboxProblem.Refused("Sandbox start failed: " + problem.text()));
    }

    private Mono<ToolResult> verified(SandboxRef ref, RunningSandbox sandbox) {
        sandboxes.active(sandbox, Duration.ZERO);
        return executions
                .awaitKernel(sandbox)
                .thenReturn(
                        SandboxAnswer.of(ref, "running", "Sandbox %s started successfully".formatted(ref.givenName())))
                .onErrorResume(SandboxProblem.class, problem -> Mono.just(unverified(ref, problem)));
    }

    private static ToolResult unverified(SandboxRef ref, SandboxProblem problem) {
        return SandboxAnswer.of(
                ref,
                "unverified",
                "Sandbox %s was started, but couldn't verify it's running: %s"
                        .formatted(ref.givenName(), problem.text()));
    }

    private static ToolResult stillStarting(SandboxRef ref) {
        return SandboxAnswer.of(
                ref,
                "starting",
                ("Sandbox %s was started, but timed out waiting for it to be fully running."
                                + " It may still be initializing.")
                        .formatted(ref.givenName()));
    }
}
