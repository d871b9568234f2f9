package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.SandboxMetrics;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxState;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** {@code sandbox_get_metrics}: what one sandbox uses, or all that the caller may see (contracts.md M22, M23). */
final class GetMetricsTool implements Tool {

    /** Asked at the same time; each answer is one small message. */
    private static final int FAN_OUT = 64;

    private final SandboxQuery query;
    private final Executions executions;
    private final ToolSettings settings;
    private final ToolDefinition definition;
    private final JsonMapper json = JsonMapper.shared();

    GetMetricsTool(SandboxQuery query, Executions executions, ToolSettings settings) {
        this.query = query;
        this.executions = executions;
        this.settings = settings;
        this.definition = new ToolDefinition(
                "sandbox_get_metrics",
                "Get metrics of sandboxes",
                """
                Returns for one sandbox, or for all, whether it runs and how much processor, memory, disk, processes and \
                network it uses, with its limits. Works for stopped sandboxes too; a value that could not be read is \
                null.""",
                SandboxQuery.schema("Name of the sandbox; all if left out").keywords(),
                MetricsAnswer.schema(),
                ToolDefinition.Annotations.READS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        return Mono.fromSupplier(() -> query.chosen(call))
                .flatMap(this::usages)
                .map(this::answer)
                .onErrorMap(
                        SandboxProblem.class,
                        problem -> new SandboxProblem.Refused("Get metrics failed: " + problem.text()));
    }

    private Mono<MetricsAnswer> usages(List<SandboxState> chosen) {
        return Flux.fromIterable(chosen)
                .take(MetricsAnswer.MOST_SANDBOXES)
                .flatMapSequential(this::usage, FAN_OUT)
                .collectList()
                .map(usages -> new MetricsAnswer(usages, chosen.size() > MetricsAnswer.MOST_SANDBOXES));
    }

    private Mono<MetricsAnswer.Usage> usage(SandboxState state) {
        return switch (state) {
            case SandboxState.Running(RunningSandbox sandbox) ->
                executions
                        .metrics(sandbox)
                        .timeout(settings.metricsWait())
                        .onErrorReturn(SandboxMetrics.UNKNOWN)
                        .map(metrics -> MetricsAnswer.Usage.of(sandbox.ref(), true, metrics));
            case SandboxState.Pending _, SandboxState.Stopped _, SandboxState.Asleep _ ->
                Mono.just(MetricsAnswer.Usage.of(state.ref(), false, SandboxMetrics.UNKNOWN));
        };
    }

    private ToolResult answer(MetricsAnswer metrics) {
        String text = json.writerWithDefaultPrettyPrinter().writeValueAsString(metrics);
        return ToolResult.ok(text, metrics);
    }
}
