package dev.sandglass.gateway.tool;

import dev.sandglass.api.TenantName;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.execution.SandboxMetrics;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.json.JsonMapper;

/** {@code sandbox_get_metrics}: what one sandbox uses, or all that the caller may see (contracts.md M22, M23). */
final class GetMetricsTool implements Tool {

    /** Asked at the same time; each answer is one small message. */
    private static final int FAN_OUT = 64;

    private static final int MAX_NAME_CHARS = 1000;

    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final Executions executions;
    private final ToolSettings settings;
    private final ToolDefinition definition;
    private final JsonMapper json = JsonMapper.shared();

    GetMetricsTool(TenantAccess access, Sandboxes sandboxes, Executions executions, ToolSettings settings) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.executions = executions;
        this.settings = settings;
        this.definition = new ToolDefinition(
                "sandbox_get_metrics",
                "Get metrics of sandboxes",
                """
                Returns for one sandbox, or for all, whether it runs and how much processor, memory, disk, processes and \
                network it uses, with its limits. Works for stopped sandboxes too; a value that could not be read is \
                null.""",
                Schema.object()
                        .optional("sandbox", SandboxArguments.name("Name of the sandbox; all if left out"))
                        .optional(
                                "namespace",
                                Schema.text("Tenant; your own if left out, '*' for all that you may see")
                                        .maxLength(63))
                        .keywords(),
                MetricsAnswer.schema(),
                ToolDefinition.Annotations.READS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        return Mono.fromSupplier(() -> chosen(call))
                .flatMap(this::usages)
                .map(this::answer)
                .onErrorMap(
                        SandboxProblem.class,
                        problem -> new SandboxProblem.Refused("Get metrics failed: " + problem.text()));
    }

    private List<SandboxState> chosen(ToolCall call) {
        Optional<String> namespace = call.arguments().text("namespace", MAX_NAME_CHARS);
        boolean everywhere = namespace.filter(TenantName.WILDCARD::equals).isPresent();
        Optional<String> name = call.arguments().text("sandbox", MAX_NAME_CHARS);
        List<TenantAccess.Tenant> tenants =
                everywhere ? access.visible(call.caller()) : List.of(access.tenant(call.caller(), namespace));
        if (name.isPresent() && !everywhere) {
            return List.of(one(call, namespace, name.get()));
        }
        return tenants.stream()
                .flatMap(tenant -> sandboxes.list(tenant.name(), tenant.namespace()).stream())
                .filter(state -> name.isEmpty() || state.ref().givenName().equals(name.get()))
                .toList();
    }

    private Mono<MetricsAnswer> usages(List<SandboxState> chosen) {
        return Flux.fromIterable(chosen)
                .take(MetricsAnswer.MOST_SANDBOXES)
                .flatMapSequential(this::usage, FAN_OUT)
                .collectList()
                .map(usages -> new MetricsAnswer(usages, chosen.size() > MetricsAnswer.MOST_SANDBOXES));
    }

    private SandboxState one(ToolCall call, Optional<String> namespace, String name) {
        var ref = access.sandbox(call.caller(), namespace, name);
        return sandboxes.find(ref).orElseThrow(() -> new SandboxProblem.NotFound(ref.givenName(), ref.tenant()));
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
