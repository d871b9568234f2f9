package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.gateway.action.SandboxActions;
import dev.sandglass.gateway.action.Started;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.port.PortAddress;
import dev.sandglass.gateway.port.PortAddresses;
import dev.sandglass.gateway.sandbox.Reach;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;

/**
 * {@code sandbox_start}: creates or resumes a sandbox and waits until a kernel answers (contracts.md M5 to M15). Fails as
 * soon as the cause is known; a start that only takes long is told as such and goes on.
 */
public final class StartTool implements SandglassTool {

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
    private final SandboxActions lifecycle;
    private final PortAddresses ports;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    public StartTool(TenantAccess access, SandboxActions lifecycle, PortAddresses ports, ToolSettings settings) {
        this.access = access;
        this.lifecycle = lifecycle;
        this.ports = ports;
        this.settings = settings;
        this.definition = new ToolDefinition(
                "sandbox_start",
                "Start a sandbox",
                """
                Starts a sandbox and waits until it can run code. Starting a running one is harmless, and changes what \
                'config' names. Without 'config' it is not needed: sandbox_run_code starts a new sandbox by itself.""",
                SandboxArguments.schemaForNew()
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
        SandboxConfig config = StartConfig.read(call.arguments());
        if (config.ports() != null && !config.ports().isEmpty() && !ports.areReached()) {
            throw new InvalidArgument(
                    "'config.ports' must be left out: this installation makes no port of a sandbox" + " reachable");
        }
        return SandboxArguments.readToStart(call, access).flatMap(ref -> start(call, ref, config));
    }

    private Mono<ToolResult> start(ToolCall call, SandboxRef ref, SandboxConfig config) {
        boolean namesHosts = StartConfig.namesHosts(call.arguments());
        return lifecycle
                .start(ref, config, call.caller().name(), call.patience(settings.startWait()))
                .map(started -> switch (started) {
                    case Started.Running(RunningSandbox sandbox) ->
                        standing(running(ref, sandbox, ports.of(call.caller(), sandbox)), sandbox, config, namesHosts);
                    case Started.Unverified(RunningSandbox sandbox, SandboxProblem problem) ->
                        standing(
                                unverified(ref, sandbox, problem, ports.of(call.caller(), sandbox)),
                                sandbox,
                                config,
                                namesHosts);
                    case Started.StillStarting(Optional<SandboxState> state) -> stillStarting(ref, state);
                    case Started.Ended(String why) ->
                        throw failed("Sandbox '%s' ended before it answered: %s.".formatted(ref.givenName(), why));
                    case Started.Failed(SandboxProblem problem, boolean configKept) ->
                        throw failed(configKept ? sentence(NextSteps.told(problem)) + KEPT : NextSteps.told(problem));
                })
                .map(StartAnswer::result);
    }

    private static SandboxProblem failed(String why) {
        return new SandboxProblem.Refused("Sandbox start failed: " + why);
    }

    private static String sentence(String text) {
        return text.endsWith(".") ? text : text + ".";
    }

    /** With what is to be said of any sandbox that has a pod. */
    private static StartAnswer standing(
            StartAnswer answer, RunningSandbox sandbox, SandboxConfig config, boolean namesHosts) {
        Reach reach = sandbox.reach();
        String told = AllowedDomains.told(reach, config.allowedDomains() != null);
        StartAnswer reaching = reach.ignored().isPresent() && !told.isEmpty() ? answer.warned(told) : answer.and(told);
        return namesHosts ? reaching.warned(NO_HOSTS) : reaching;
    }

    private static StartAnswer running(SandboxRef ref, RunningSandbox sandbox, List<PortAddress> reached) {
        String text = "Sandbox %s started successfully".formatted(ref.givenName());
        StartAnswer answer = StartAnswer.of(ref, sandbox, "running", text, reached);
        return sandbox.awaited().map(AWAITED::formatted).map(answer::warned).orElse(answer);
    }

    private static StartAnswer unverified(
            SandboxRef ref, RunningSandbox sandbox, SandboxProblem problem, List<PortAddress> reached) {
        String text = "Sandbox %s was started, but couldn't verify it's running: %s"
                .formatted(ref.givenName(), NextSteps.told(problem));
        return StartAnswer.of(ref, sandbox, "unverified", text, reached).withWarning(text);
    }

    private static StartAnswer stillStarting(SandboxRef ref, Optional<SandboxState> state) {
        return StartAnswer.pending(
                ref,
                "starting",
                ("Sandbox %s was started, but timed out waiting for it to be fully running."
                                + " It may still be initializing.%s Call sandbox_start again with the same arguments to go on"
                                + " waiting.")
                        .formatted(
                                ref.givenName(),
                                state.flatMap(SandboxState::condition)
                                        .map(" Its condition is %s."::formatted)
                                        .orElse("")));
    }
}
