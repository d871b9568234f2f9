package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.gateway.action.Overview;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.execution.SandboxMetrics;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxState;
import reactor.core.publisher.Mono;

/** {@code sandbox_get_metrics}: what one sandbox uses, or all that the caller may see (contracts.md M22, M23). */
public final class GetMetricsTool implements SandglassTool {

    private final TenantAccess access;
    private final Overview overview;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    public GetMetricsTool(TenantAccess access, Overview overview, ToolSettings settings) {
        this.access = access;
        this.overview = overview;
        this.settings = settings;
        this.definition = new ToolDefinition(
                "sandbox_get_metrics",
                "Get metrics",
                """
                Tells whether sandboxes run and what they use of processor, memory, disk, processes and network, as JSON.""",
                SandboxQuery.schema("One sandbox; default all").keywords(),
                MetricsAnswer.schema(),
                ToolDefinition.Annotations.READS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        return Mono.fromSupplier(() -> overview.find(SandboxQuery.read(call, access)))
                .flatMap(chosen -> overview.metrics(chosen, settings.metricsWait()))
                .map(GetMetricsTool::usages)
                .map(metrics -> ToolResult.ok(MetricsText.of(metrics), metrics))
                .onErrorMap(
                        SandboxProblem.class,
                        problem -> new SandboxProblem.Refused("Get metrics failed: " + NextSteps.told(problem)));
    }

    private static MetricsAnswer usages(Overview.Answers<SandboxMetrics> answers) {
        return new MetricsAnswer(
                answers.entries().stream()
                        .map(sandbox -> MetricsAnswer.Usage.of(
                                sandbox.state().ref(),
                                sandbox.state() instanceof SandboxState.Running,
                                sandbox.answer().orElse(SandboxMetrics.UNKNOWN)))
                        .toList(),
                answers.truncated());
    }
}
