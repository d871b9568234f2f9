package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.gateway.action.Runs;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.contract.ToolDefinition;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.regex.Pattern;
import reactor.core.publisher.Mono;

/** {@code sandbox_install_packages}: packages for the code to come (contracts.md I12). */
public final class InstallPackagesTool implements SandglassTool {

    private static final int MAX_PACKAGES = 64;
    private static final int MAX_CHARS = 512;

    /** What a package, a URL or a path never has: characters that do not show, blanks at its ends. */
    private static final Pattern UNREADABLE = Pattern.compile("[\\p{C}\\p{Z}&&[^ ]]|^ | $");

    private static final Pattern OPTION = Pattern.compile("(?:^| )-");

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
                                        "What to install: each a name with or without a version (pandas>=2, left-pad@1), a"
                                                + " URL, or the path of a file in the sandbox; no options",
                                        Schema.text("Package")
                                                .with("minLength", 1)
                                                .maxLength(MAX_CHARS))
                                .with("minItems", 1)
                                .with("maxItems", MAX_PACKAGES))
                .optional("language", SessionArguments.languageSchema("Whose packages, default python"));
        this.definition = new ToolDefinition(
                "sandbox_install_packages",
                "Install packages in a sandbox",
                """
                Installs packages in a running sandbox with pip or npm and returns what the installer said. Code can import \
                them at once; a module that was imported before stays as it was until sandbox_reset. Packages survive \
                sandbox_reset. The hosts of the package index must be among 'allowed_domains' of sandbox_start's 'config' \
                (it can be changed while the sandbox runs). Without network, write wheels or npm tarballs with \
                sandbox_write_file and give their paths.""",
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
        return runs.run(ref, request, call.patience(settings.startWait()))
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
                .texts("packages", MAX_PACKAGES, MAX_CHARS)
                .orElseThrow(() -> new InvalidArgument("Missing required 'packages' parameter"));
        if (packages.isEmpty()) {
            throw new InvalidArgument("'packages' must name at least one package");
        }
        for (int index = 0; index < packages.size(); index++) {
            check("'packages[%d]'".formatted(index), packages.get(index));
        }
        return packages;
    }

    private static void check(String field, String text) {
        if (text.isEmpty() || UNREADABLE.matcher(text).find()) {
            throw new InvalidArgument(
                    field + " must be one line of printable characters, without blanks at its ends: a package, a URL or"
                            + " the path of a file in the sandbox");
        }
        if (OPTION.matcher(text).find()) {
            throw new InvalidArgument(
                    field + " must be a package, a URL or a path: options, and whatever else begins with"
                            + " '-', are not taken; run the installer itself with sandbox_run_command if you need one");
        }
    }
}
