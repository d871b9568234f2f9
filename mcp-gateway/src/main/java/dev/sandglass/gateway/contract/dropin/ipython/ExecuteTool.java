package dev.sandglass.gateway.contract.dropin.ipython;

import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.action.Runs;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.config.CodeFields;
import dev.sandglass.gateway.contract.dropin.DropInTool;
import dev.sandglass.gateway.contract.dropin.Place;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** {@code execute} (contracts.md P2 to P7, P15 to P18). */
final class ExecuteTool implements DropInTool {

    /** Two seconds less than clients allow, so that the answer of a time-out still arrives (contracts.md P16). */
    static final Duration TIMEOUT = Duration.ofSeconds(58);

    private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);

    private final Place place;
    private final Runs runs;
    private final Kernels kernels;
    private final Steps steps;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    ExecuteTool(Place place, Runs runs, Kernels kernels, Steps steps, ToolSettings settings) {
        this.place = place;
        this.runs = runs;
        this.kernels = kernels;
        this.steps = steps;
        this.settings = settings;
        this.definition = new ToolDefinition(
                        "execute",
                        "Execute a cell",
                        """
                        Runs a cell in a named IPython session, which is made on first use and keeps its variables. Returns \
                        status (ok, error, timeout, env_error), stdout, stderr, result, error, execution_count, warning. \
                        After a timeout the cell is interrupted, partial output returned, and the session goes on.""",
                        Schema.object()
                                .required("session", SessionNames.schema())
                                .required("code", Schema.text("The cell"))
                                .optional(
                                        "env",
                                        Schema.text("Python environment of a new session: a name in ~/envs, or a"
                                                + " folder; default the sandbox's own"))
                                .optional(
                                        "timeout_s",
                                        Schema.seconds(
                                                "Seconds, default %d"
                                                        .formatted(timeout().toSeconds()),
                                                LEAST_TIMEOUT,
                                                settings.maxTimeout()))
                                .keywords(),
                        schema(),
                        ToolDefinition.Annotations.RUNS)
                .withLongAnswers();
    }

    private Duration timeout() {
        return settings.maxTimeout().compareTo(TIMEOUT) < 0 ? settings.maxTimeout() : TIMEOUT;
    }

    private static Map<String, Object> schema() {
        return Schema.object()
                .required(
                        "status",
                        Schema.text("How it ended").with("enum", List.of("ok", "error", "timeout", "env_error")))
                .required("stdout", Schema.text("Standard output"))
                .required("stderr", Schema.text("Standard error"))
                .required("result", Schema.text("Value of the last expression").orNull())
                .required("error", Schema.text("Traceback, or what went wrong").orNull())
                .required(
                        "execution_count",
                        Schema.integer("Cells in this session").orNull())
                .required("warning", Schema.text("What else to know").orNull())
                .keywords();
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Steps steps() {
        return steps;
    }

    @Override
    public Place place() {
        return place;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Arguments arguments = call.arguments();
        String session = SessionNames.read(arguments);
        String code = CodeFields.code(arguments);
        Optional<String> env = CodeFields.pythonEnv(arguments, "env");
        Duration timeout = arguments
                .seconds("timeout_s", LEAST_TIMEOUT, settings.maxTimeout())
                .orElse(timeout());
        Session.Name name = SessionNames.of(session);
        SandboxRef ref = place.of(call);
        // It counts from the begin of the run: a cell that waits for others is waited for, too.
        var limits = new ExecutionRequest.Limits(
                timeout, settings.maxTimeout().plus(timeout), false, settings.maxOutputChars());
        var request = new ExecutionRequest.Code(
                name.language(),
                name.session(),
                SessionNames.label(session),
                null,
                env.orElse(null),
                code,
                Map.of(),
                limits);
        return runs.run(ref, request, place.absent(call), call.patience(settings.startWait()))
                .flatMap(run -> kernels.find(ref, name).map(kernel -> answer(run, session, env, kernel, ref)));
    }

    private ToolResult answer(Run run, String session, Optional<String> env, Optional<Session> kernel, SandboxRef ref) {
        Optional<String> isNew = run.created() && place.isNamed() ? Optional.of(ref.givenName()) : Optional.empty();
        return new ExecuteAnswer(run, steps).result(new ExecuteAnswer.Asked(session, env, isNew), kernel);
    }
}
