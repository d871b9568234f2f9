package dev.sandglass.gateway.contract.dropin.ipybox;

import dev.sandglass.gateway.action.Patience;
import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.action.Runs;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.MiddleCut;
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
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** {@code execute_ipython_cell} (contracts.md I8 to I11). */
final class ExecuteCellTool implements DropInTool {

    static final int MAX_OUTPUT_CHARS = 300_000;

    private static final int OUTPUT_CHARS = 5_000;
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);

    private final Place place;
    private final Runs runs;
    private final KeptFiles files;
    private final Steps steps;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    ExecuteCellTool(Place place, Runs runs, KeptFiles files, Steps steps, ToolSettings settings) {
        this.place = place;
        this.runs = runs;
        this.files = files;
        this.steps = steps;
        this.settings = settings;
        this.definition = new ToolDefinition(
                        "execute_ipython_cell",
                        "Execute a cell",
                        """
                        Runs a cell in the IPython kernel, which keeps its variables; top-level await, !commands and %%bash \
                        work. Returns output, the value of the last expression, and links to the pictures that were drawn.""",
                        Schema.object()
                                .required("code", Schema.text("The cell"))
                                .optional(
                                        "timeout",
                                        Schema.seconds(
                                                "Seconds, default %d"
                                                        .formatted(timeout().toSeconds()),
                                                LEAST_TIMEOUT,
                                                settings.maxTimeout()))
                                .optional(
                                        "max_output_chars",
                                        Schema.integer("Default %d; longer output is cut in the middle"
                                                .formatted(OUTPUT_CHARS)))
                                .keywords(),
                        CellAnswer.schema(),
                        ToolDefinition.Annotations.RUNS)
                .withLongAnswers();
    }

    private Duration timeout() {
        return settings.maxTimeout().compareTo(TIMEOUT) < 0 ? settings.maxTimeout() : TIMEOUT;
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
        String code = CodeFields.code(arguments);
        Duration timeout = arguments
                .seconds("timeout", LEAST_TIMEOUT, settings.maxTimeout())
                .orElse(timeout());
        int limit = arguments.integer("max_output_chars", 1, MAX_OUTPUT_CHARS).orElse(OUTPUT_CHARS);
        SandboxRef ref = place.of(call);
        Patience patience = call.patience(settings.startWait());
        // More than is shown, for the file that has the rest; cells wait for each other, too.
        var limits = new ExecutionRequest.Limits(timeout, settings.maxTimeout().plus(timeout), false, MAX_OUTPUT_CHARS);
        var request = new ExecutionRequest.Code(
                IpyboxContract.KERNEL.language(), IpyboxContract.KERNEL.session(), null, code, Map.of(), limits);
        return runs.run(ref, request, place.absent(call), patience).flatMap(run -> answer(run, ref, limit, patience));
    }

    private Mono<ToolResult> answer(Run run, SandboxRef ref, int limit, Patience patience) {
        ExecutionResult result = run.result();
        String number = result.id().number();
        String output = CellText.output(result);
        boolean isLong = output.length() > limit;
        Mono<Optional<String>> file = isLong
                ? files.text(ref, number, MiddleCut.of(output, MAX_OUTPUT_CHARS), patience)
                : Mono.just(Optional.empty());
        Mono<List<String>> pictures = files.pictures(ref, number, result.images(), patience);
        boolean isNew = run.created() && place.isNamed();
        return file.flatMap(more -> pictures.map(paths -> new CellAnswer(run, steps)
                .result(
                        CellText.shown(output, limit, more.orElse(null)),
                        paths,
                        isNew ? Optional.of(ref.givenName()) : Optional.empty())));
    }
}
