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
import dev.sandglass.gateway.contract.config.CodeFields;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandboxArguments;
import dev.sandglass.gateway.contract.sandglass.sandbox.SandglassTool;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code sandbox_run_code}: code for a kernel that keeps its variables (contracts.md M17, M18). */
public final class RunCodeTool implements SandglassTool {

    private static final Schema PYTHON_ENV = Schema.text(
            "Python environment with ipykernel that a new session begins" + " with: its folder, or a name in ~/envs");

    /** To the supervisor: wherever its workspace is. */
    private static final String WORKSPACE = "";

    private static final Pattern CHANGES_SHELL = Pattern.compile("(?m)^[ \\t]*+(?:cd|export|alias|source|\\.)\\s");
    private static final String NOTHING_STAYS =
            "This shell has ended: its directory, variables and aliases do not stay for the next call; files do.";

    private final TenantAccess access;
    private final Runs runs;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    public RunCodeTool(TenantAccess access, Runs runs, ToolSettings settings) {
        this.access = access;
        this.runs = runs;
        this.settings = settings;
        Schema input = SandboxArguments.schemaForNew()
                .required("code", Schema.text("Source text"))
                .optional("language", SessionArguments.languageSchema("Default python", CodeLanguage.WORDS))
                .optional("session", Schema.text("Set of variables of its own, made on first use; default 'default'"));
        this.definition = new ToolDefinition(
                        "sandbox_run_code",
                        "Run code",
                        """
                Runs code in a sandbox and returns its output, the value of its last expression and its pictures. \
                Variables, imports and files stay for later calls. A sandbox that is not there is started. 'python' is \
                IPython with top-level await; 'nodejs' has top-level await, require and display(mediaType, data); 'bash' \
                runs the text in a new shell in /workspace.""",
                        ExecutionArguments.addTo(
                                        StartArgument.addTo(input.optional("python_env", PYTHON_ENV)), settings)
                                .keywords(),
                        ExecutionAnswer.schema(),
                        ToolDefinition.Annotations.RUNS)
                .withLongAnswers();
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Arguments arguments = call.arguments();
        SandboxRef ref = SandboxArguments.read(call, access);
        String code = CodeFields.code(arguments);
        CodeLanguage language = CodeLanguage.read(arguments);
        Map<String, String> envs = arguments.variables("envs").orElse(Map.of());
        @Nullable String pythonEnv = pythonEnv(arguments, language);
        ExecutionRequest.Limits limits = ExecutionArguments.limits(arguments, settings);
        if (language == CodeLanguage.BASH) {
            var line = new ExecutionRequest.Command("sh", List.of("-c", code), true, WORKSPACE, envs, "", limits);
            return runs.run(ref, line, StartArgument.read(call), call.patience(settings.startWait()))
                    .map(ExecutionAnswer::of)
                    .map(answer -> expectsToStay(arguments, code) ? answer.and(NOTHING_STAYS) : answer);
        }
        Session.Name session = SessionArguments.read(arguments);
        var request = new ExecutionRequest.Code(session.language(), session.session(), pythonEnv, code, envs, limits);
        return runs.run(ref, request, StartArgument.read(call), call.patience(settings.startWait()))
                .map(ExecutionAnswer::of);
    }

    private static boolean expectsToStay(Arguments arguments, String code) {
        return arguments.asks("session") || CHANGES_SHELL.matcher(code).find();
    }

    private static @Nullable String pythonEnv(Arguments arguments, CodeLanguage language) {
        Optional<String> given = CodeFields.pythonEnv(arguments, "python_env");
        if (given.isPresent() && language != CodeLanguage.PYTHON) {
            throw new InvalidArgument("'python_env' is for language python; leave it out for " + language.word());
        }
        return given.orElse(null);
    }
}
