package dev.sandglass.gateway.contract.dropin.codemode;

import dev.sandglass.gateway.caller.Caller;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.Tool;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.config.CodeFields;
import dev.sandglass.gateway.contract.dropin.Place;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** {@code run_python} (contracts.md X2, X7 to X12). */
final class RunPythonTool implements Tool {

    static final int TIMEOUT = 30;
    static final int MAX_TIMEOUT = 120;

    private static final int MAX_SERVERS = 64;
    private static final int MOST_LOADED = 16;
    private static final int MAX_SERVER_CHARS = 256;
    private static final Steps STEPS = new Steps(_ -> Optional.empty());

    private static final ToolDefinition DEFINITION = new ToolDefinition(
                    "run_python",
                    "Run Python",
                    """
                    Runs Python in a fresh interpreter, with top-level await. Print what you want to see: the value of a \
                    last expression is not shown. Variables and processes end with the call; files in /workspace stay.""",
                    Schema.object()
                            .required("code", Schema.text("The program"))
                            .optional(
                                    "servers",
                                    Schema.list(
                                            "MCP servers of the sandbox to load, each as mcp_<name>",
                                            Schema.ofType("string")))
                            .optional(
                                    "timeout",
                                    Schema.integer("Seconds, 1 to %d, default %d".formatted(MAX_TIMEOUT, TIMEOUT)))
                            .keywords(),
                    Payload.schema(),
                    ToolDefinition.Annotations.RUNS)
            .withLongAnswers();

    private final Place place;
    private final FreshRuns runs;
    private final OutputForm form;
    private final ToolSettings settings;

    RunPythonTool(Place place, FreshRuns runs, OutputForm form, ToolSettings settings) {
        this.place = place;
        this.runs = runs;
        this.form = form;
        this.settings = settings;
    }

    @Override
    public ToolDefinition definition() {
        return DEFINITION;
    }

    @Override
    public Optional<Subject> subject(Caller caller, Optional<String> session) {
        return Optional.of(place.subject(caller, session));
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Arguments arguments = call.arguments();
        String code = code(arguments);
        List<String> servers = servers(arguments);
        Duration timeout = timeout(arguments);
        SandboxRef ref = place.of(call);
        // It counts from the begin of the run: the kernel has to start before that.
        var limits = new ExecutionRequest.Limits(
                timeout, settings.maxTimeout().plus(timeout), false, settings.maxOutputChars());
        var program = new FreshRuns.Program(code, servers, limits);
        return runs.run(ref, program, place.absent(call), call.patience(settings.startWait()))
                .map(run -> new RunPythonAnswer(run, timeout, servers, STEPS)
                        .in(form, run.created() && place.isNamed() ? Optional.of(ref.givenName()) : Optional.empty()));
    }

    @Override
    public ToolResult refused(Throwable problem) {
        String why = String.valueOf(problem.getMessage());
        Payload payload =
                switch (problem) {
                    case SandboxProblem.ServerRefused unknown ->
                        Payload.unrun("validation_error", unknown.fact(), unknown.fact());
                    case SandboxProblem known ->
                        Payload.unrun("error", "Unexpected failure: " + STEPS.told(known), STEPS.told(known));
                    default -> Payload.unrun("validation_error", why, why);
                };
        return payload.result(form, List.of(), ToolResult.REFUSED, null);
    }

    private static String code(Arguments arguments) {
        boolean isBlank = arguments
                .given("code", CodeFields.MAX_CODE_BYTES)
                .filter(code -> !code.isBlank())
                .isEmpty();
        if (isBlank) {
            throw new InvalidArgument("Missing 'code' argument");
        }
        return CodeFields.code(arguments);
    }

    private static List<String> servers(Arguments arguments) {
        List<String> servers;
        try {
            servers = arguments.texts("servers", MAX_SERVERS, MAX_SERVER_CHARS).orElse(List.of());
        } catch (InvalidArgument odd) {
            throw new InvalidArgument("'servers' must be a list");
        }
        if (servers.size() > MOST_LOADED) {
            throw new InvalidArgument("'servers' must have at most %d names".formatted(MOST_LOADED));
        }
        return servers;
    }

    private Duration timeout(Arguments arguments) {
        int seconds;
        try {
            seconds = arguments
                    .integer("timeout", Integer.MIN_VALUE, Integer.MAX_VALUE)
                    .orElse(TIMEOUT);
        } catch (InvalidArgument odd) {
            throw new InvalidArgument("'timeout' must be an integer");
        }
        Duration clamped = Duration.ofSeconds(Math.clamp(seconds, 1, MAX_TIMEOUT));
        return clamped.compareTo(settings.maxTimeout()) < 0 ? clamped : settings.maxTimeout();
    }
}
