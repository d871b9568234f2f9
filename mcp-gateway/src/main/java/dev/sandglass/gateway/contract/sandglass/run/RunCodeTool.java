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
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code sandbox_run_code}: code for a kernel that keeps its variables (contracts.md M17, M18). */
public final class RunCodeTool implements SandglassTool {

    static final int MAX_CODE_BYTES = 1024 * 1024;

    /** In UTF-8 no longer than the longest path that a supervisor takes. */
    private static final int MAX_ENV_CHARS = 1024;

    private static final Pattern ENV =
            Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.+-]{0,62}|~|~/\\P{Cntrl}*|(?!~)(?=.*/)\\P{Cntrl}+");
    private static final Schema PYTHON_ENV = Schema.text(
                    "Python interpreter that a new session begins with: a name stands"
                            + " for ~/envs/NAME, a path for the environment's folder; the sandbox's own if left out. It needs"
                            + " ipykernel")
            .maxLength(MAX_ENV_CHARS);

    private final TenantAccess access;
    private final Runs runs;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    public RunCodeTool(TenantAccess access, Runs runs, ToolSettings settings) {
        this.access = access;
        this.runs = runs;
        this.settings = settings;
        Schema input =
                SessionArguments.addTo(SandboxArguments.schema().required("code", Schema.text("Source text to run")));
        this.definition = new ToolDefinition(
                "sandbox_run_code",
                "Run code in a sandbox",
                """
                Runs code in a running sandbox and returns what it printed, the value of its last expression and its \
                pictures. Variables, imports and files are kept between calls. Python is ipykernel's; Node.js has \
                top-level await, require, import and display(mediaType, data). The sandbox must be started first with \
                sandbox_start. Code that runs longer than 'wait' goes on: read it with sandbox_get_execution.""",
                ExecutionArguments.addTo(input.optional("python_env", PYTHON_ENV), settings)
                        .keywords(),
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
        String code = code(arguments);
        Session.Name session = SessionArguments.read(arguments);
        var request = new ExecutionRequest.Code(
                session.language(),
                session.session(),
                pythonEnv(arguments, session),
                code,
                arguments.variables("envs").orElse(Map.of()),
                ExecutionArguments.limits(arguments, settings));
        return runs.run(ref, request, call.patience(settings.startWait())).map(ExecutionAnswer::of);
    }

    private static @Nullable String pythonEnv(Arguments arguments, Session.Name session) {
        Optional<String> given = arguments.text("python_env", MAX_ENV_CHARS).filter(env -> !env.isEmpty());
        if (given.isPresent() && !session.language().equals("python")) {
            throw new InvalidArgument("'python_env' is for language python; leave it out for " + session.language());
        }
        if (given.isPresent() && !ENV.matcher(given.get()).matches()) {
            throw new InvalidArgument(
                    "'python_env' must be a name (1 to 63 letters, digits, '_', '.', '+' or '-'), or a"
                            + " path with a slash in it or '~/' in front, without control characters");
        }
        return given.orElse(null);
    }

    private static String code(Arguments arguments) {
        String code = arguments.requiredText("code", MAX_CODE_BYTES);
        int bytes = code.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_CODE_BYTES) {
            throw new InvalidArgument("'code' must have at most %d bytes in UTF-8, has %d; write it to a file in parts"
                    .formatted(MAX_CODE_BYTES, bytes));
        }
        return code;
    }
}
