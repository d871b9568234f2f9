package dev.sandglass.gateway.tool;

import dev.sandglass.api.Reason;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.port.PortAddress;
import dev.sandglass.gateway.port.PortAddresses;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;

/**
 * {@code sandbox_start}: creates or resumes a sandbox and waits until a kernel answers (contracts.md M5 to M15). Fails as
 * soon as the cause is known; a start that only takes long is told as such and goes on.
 */
final class StartTool implements Tool {

    private static final String NO_HOSTS =
            "No port was opened on a host: of 'host:container' in 'config.ports' only the"
                    + " container's part counts, and a port is reached at its address.";

    private static final String AWAITED =
            "Not everything that was asked for is in force (UpdatePending: %s). To apply it"
                    + " now, call sandbox_stop and then sandbox_start; variables are lost with that, and files outside a"
                    + " persistent workspace.";

    private static final String KEPT =
            " What it was asked to be is kept: to change it, call sandbox_start with that field"
                    + " anew ('volumes': [] for none), or sandbox_stop with 'delete' first.";

    private final TenantAccess access;
    private final Sandboxes sandboxes;
    private final Executions executions;
    private final PortAddresses ports;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    StartTool(
            TenantAccess access,
            Sandboxes sandboxes,
            Executions executions,
            PortAddresses ports,
            ToolSettings settings) {
        this.access = access;
        this.sandboxes = sandboxes;
        this.executions = executions;
        this.ports = ports;
        this.settings = settings;
        this.definition = new ToolDefinition(
                "sandbox_start",
                "Start a sandbox",
                """
                Starts a sandbox of that name, creating it if there is none, and waits until it can run code. Call this \
                before running code or commands. Starting a running sandbox is harmless. 'workspace' in 'config' gives it \
                a persistent workspace: what is in /workspace then outlives a stop. Always stop the sandbox with \
                sandbox_stop when done, to free its resources.""",
                SandboxArguments.schema()
                        .optional("config", StartConfig.schema())
                        .keywords(),
                StartAnswer.schema("running", "starting", "unverified"),
                ToolDefinition.Annotations.STARTS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        SandboxRef ref = SandboxArguments.readNew(call, access);
        SandboxConfig config = StartConfig.read(call.arguments());
        if (config.ports() != null && !config.ports().isEmpty() && !ports.areReached()) {
            throw new InvalidArgument(
                    "'config.ports' must be left out: this installation makes no port of a sandbox" + " reachable");
        }
        Mono<ToolResult> started = sandboxes
                .start(ref, config, call.caller().name())
                .flatMap(sandbox -> verified(ref, sandbox, ports.of(call.caller(), sandbox))
                        .map(answer -> reaching(answer, sandbox.reach(), config)))
                .map(answer -> StartConfig.namesHosts(call.arguments()) ? answer.and(NO_HOSTS) : answer);
        Mono<ToolResult> late = Mono.firstWithSignal(
                        Mono.delay(settings.startWait()).then(), executions.drained())
                .then(Mono.fromSupplier(() -> stillStarting(ref, sandboxes.find(ref))));
        return Mono.firstWithSignal(started, late, StartProgress.told(sandboxes.states(ref), call.progress()))
                .onErrorMap(SandboxProblem.class, problem -> failed(ref, problem));
    }

    private SandboxProblem failed(SandboxRef ref, SandboxProblem problem) {
        boolean kept = problem instanceof SandboxProblem.StartFailed failed
                && Reason.of(failed.reason()).isPresent()
                && sandboxes.find(ref).isPresent();
        String stop = problem.text().endsWith(".") ? "" : ".";
        return new SandboxProblem.Refused("Sandbox start failed: " + problem.text() + (kept ? stop + KEPT : ""));
    }

    private static ToolResult reaching(ToolResult answer, Reach reach, SandboxConfig config) {
        String told = AllowedDomains.told(reach, config.allowedDomains() != null);
        return told.isEmpty() ? answer : answer.and(told);
    }

    private Mono<ToolResult> verified(SandboxRef ref, RunningSandbox sandbox, List<PortAddress> reached) {
        sandboxes.active(sandbox, Duration.ZERO);
        Mono<ToolResult> answered = executions
                .awaitKernel(sandbox)
                .thenReturn(StartAnswer.of(
                        ref, sandbox, "running", "Sandbox %s started successfully".formatted(ref.givenName()), reached))
                .map(answer -> sandbox.awaited()
                        .map(AWAITED::formatted)
                        .map(answer::and)
                        .orElse(answer))
                .onErrorResume(SandboxProblem.class, problem -> Mono.just(unverified(ref, sandbox, problem, reached)));
        return Mono.firstWithSignal(answered, endedBefore(ref, sandbox));
    }

    /** A container is called running for a moment, even if its image cannot be a sandbox. */
    private Mono<ToolResult> endedBefore(SandboxRef ref, RunningSandbox sandbox) {
        return sandboxes
                .ends(sandbox)
                .ofType(SandboxEnd.PodGone.class)
                .next()
                .flatMap(end -> Mono.error(new SandboxProblem.Refused(
                        "Sandbox '%s' ended before it answered: %s.".formatted(ref.givenName(), end.why()))));
    }

    private static ToolResult unverified(
            SandboxRef ref, RunningSandbox sandbox, SandboxProblem problem, List<PortAddress> reached) {
        return StartAnswer.of(
                ref,
                sandbox,
                "unverified",
                "Sandbox %s was started, but couldn't verify it's running: %s"
                        .formatted(ref.givenName(), problem.text()),
                reached);
    }

    private static ToolResult stillStarting(SandboxRef ref, Optional<SandboxState> state) {
        return StartAnswer.of(
                ref,
                "starting",
                ("Sandbox %s was started, but timed out waiting for it to be fully running."
                                + " It may still be initializing.%s Call sandbox_start again with the same arguments to go on"
                                + " waiting.")
                        .formatted(
                                ref.givenName(),
                                PendingWords.of(state)
                                        .map(" Its condition is %s."::formatted)
                                        .orElse("")));
    }
}
