package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.action.Absent;
import dev.sandglass.gateway.action.Runs;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.config.CodeFields;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import reactor.core.publisher.Mono;

/** {@code sandbox_install_packages}: packages for the code to come (contracts.md I12). */
public final class InstallPackagesTool implements SandglassTool {

    private static final int MAX_PACKAGES = 64;
    private static final String NO_OPTIONS = "run the installer itself with sandbox_run_command if you need one";

    private final TenantAccess access;
    private final Runs runs;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    public InstallPackagesTool(TenantAccess access, Runs runs, ToolSettings settings) {
        this.access = access;
        this.runs = runs;
        this.settings = settings;
        Schema input = SandboxArguments.schema()
                .required(
                        "packages",
                        Schema.list(
                                "Each a name with or without version ('pandas>=2', 'left-pad@1'), a URL, or the path of a"
                                        + " wheel or tarball in the sandbox; no options",
                                Schema.ofType("string")))
                .optional("language", SessionArguments.languageSchema("Default python"));
        this.definition = new ToolDefinition(
                "sandbox_install_packages",
                "Install packages",
                """
                Installs packages with pip or npm. They survive sandbox_reset; a module that was imported before stays as \
                it was until then. The index's hosts must be in 'allowed_domains'.""",
                ExecutionArguments.addLimitsTo(input, settings).keywords(),
                ExecutionAnswer.schema(),
                ToolDefinition.Annotations.RUNS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Arguments arguments = call.arguments();
        SandboxRef ref = SandboxArguments.read(call, access);
        List<String> packages = packages(arguments);
        var request = new ExecutionRequest.Install(
                SessionArguments.language(arguments), packages, ExecutionArguments.limits(arguments, settings));
        return runs.run(ref, request, new Absent.Refused(), call.patience(settings.startWait()))
                .map(ExecutionAnswer::of)
                .map(result -> announced(result, packages));
    }

    private static ToolResult announced(ToolResult result, List<String> packages) {
        String names = String.join(", ", packages);
        if (result.outcome().equals(ExecutionStatus.OK.word())) {
            return result.and("Installed " + names + ".");
        }
        return result.outcome().equals(ExecutionStatus.ERROR.word())
                ? result.and("Could not install " + names + ".")
                : result;
    }

    private static List<String> packages(Arguments arguments) {
        List<String> packages = arguments
                .texts("packages", MAX_PACKAGES, CodeFields.MAX_PACKAGE_CHARS)
                .orElseThrow(() -> new InvalidArgument("Missing required 'packages' parameter"));
        if (packages.isEmpty()) {
            throw new InvalidArgument("'packages' must name at least one package");
        }
        for (int index = 0; index < packages.size(); index++) {
            CodeFields.checkPackage("'packages[%d]'".formatted(index), packages.get(index), NO_OPTIONS);
        }
        return packages;
    }
}
