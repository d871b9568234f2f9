package dev.sandglass.gateway.contract.dropin.ipybox;

import dev.sandglass.gateway.action.Runs;
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
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;

/** {@code install_package} (contracts.md I12). */
final class InstallPackageTool implements DropInTool {

    private static final String FIELD = "package_name";
    private static final String NO_OPTIONS = "run pip itself in a cell if you need one: !pip install …";

    private static final ToolDefinition DEFINITION = new ToolDefinition(
            "install_package",
            "Install a package",
            """
            Installs a package with pip and returns what pip prints. Packages survive reset. The hosts of the index must be \
            among the sandbox's allowed domains.""",
            Schema.object()
                    .required(FIELD, Schema.text("A name with or without version ('pandas>=2'), or 'git+https://…'"))
                    .keywords(),
            CellAnswer.schema(),
            ToolDefinition.Annotations.RUNS);

    private final Place place;
    private final Runs runs;
    private final Steps steps;
    private final ToolSettings settings;

    InstallPackageTool(Place place, Runs runs, Steps steps, ToolSettings settings) {
        this.place = place;
        this.runs = runs;
        this.steps = steps;
        this.settings = settings;
    }

    @Override
    public ToolDefinition definition() {
        return DEFINITION;
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
        String name = call.arguments().requiredText(FIELD, CodeFields.MAX_PACKAGE_CHARS);
        CodeFields.checkPackage("'" + FIELD + "'", name, NO_OPTIONS);
        SandboxRef ref = place.of(call);
        var limits = new ExecutionRequest.Limits(
                settings.timeout(), settings.maxTimeout().plus(settings.timeout()), false, settings.maxOutputChars());
        var request = new ExecutionRequest.Install(IpyboxContract.KERNEL.language(), List.of(name), limits);
        return runs.run(ref, request, place.absent(call), call.patience(settings.startWait()))
                .map(run -> new CellAnswer(run, steps)
                        .result(
                                CellText.output(run.result()),
                                List.of(),
                                run.created() && place.isNamed() ? Optional.of(ref.givenName()) : Optional.empty()));
    }
}
