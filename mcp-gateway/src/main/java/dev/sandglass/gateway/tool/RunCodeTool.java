package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.execution.Session;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Mono;

/** {@code sandbox_run_code}: code for a kernel that keeps its variables (contracts.md M17, M18). */
final class RunCodeTool implements Tool {

    static final int MAX_CODE_BYTES = 1024 * 1024;

    private final TenantAccess access;
    private final SandboxRuns runs;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    RunCodeTool(TenantAccess access, SandboxRuns runs, ToolSettings settings) {
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
                ExecutionArguments.addTo(input, settings).keywords(),
                ExecutionAnswer.schema(),
                ToolDefinition.Annotations.RUNS);
    }

    @Override
    public ToolDefinition definition() {
        return definition;
    }

    @Override
    public Set<String> laterArguments() {
        return Set.of("python_env");
    }

    @Override
    public Mono<ToolResult> call(ToolCall call) {
        Arguments arguments = call.arguments();
        SandboxRef ref = SandboxArguments.read(call, access);
        String code = code(arguments);
        Session.Name session = SessionArguments.read(arguments);
        if (arguments.has("python_env")) {
            throw InvalidArgument.notYet("python_env", "leave it out; the sandbox's own Python is used");
        }
        var request = new ExecutionRequest.Code(
                session.language(),
                session.session(),
                code,
                arguments.variables("envs").orElse(Map.of()),
                ExecutionArguments.limits(arguments, settings));
        return runs.run(ref, request, call.progress());
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
