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
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import reactor.core.publisher.Mono;

/** {@code sandbox_run_command}: a process of its own (contracts.md M19, M20). */
public final class RunCommandTool implements SandglassTool {

    private static final int MAX_COMMAND_CHARS = 64 * 1024;
    private static final int MAX_ARGS = 256;
    private static final int MAX_ARGS_CHARS = 64 * 1024;
    private static final int MAX_CWD_CHARS = 4096;
    private static final int MAX_STDIN_CHARS = 1024 * 1024;
    /** To the supervisor: wherever its workspace is. */
    private static final String WORKSPACE = "";

    private final TenantAccess access;
    private final Runs runs;
    private final ToolSettings settings;
    private final ToolDefinition definition;

    public RunCommandTool(TenantAccess access, Runs runs, ToolSettings settings) {
        this.access = access;
        this.runs = runs;
        this.settings = settings;
        Schema input = SandboxArguments.schema()
                .required(
                        "command",
                        Schema.text("A program, run with exactly the given 'args' and no shell; or, if there are no"
                                        + " 'args' and this has blanks or shell characters, a command line for bash (sh if the"
                                        + " image has no bash)")
                                .maxLength(MAX_COMMAND_CHARS))
                .optional(
                        "args",
                        Schema.list("Arguments of the program", Schema.text("Argument"))
                                .with("maxItems", MAX_ARGS))
                .optional(
                        "cwd",
                        Schema.text("Working directory, default /workspace").maxLength(MAX_CWD_CHARS))
                .optional(
                        "stdin",
                        Schema.text("What the program reads on standard input").maxLength(MAX_STDIN_CHARS));
        this.definition = new ToolDefinition(
                "sandbox_run_command",
                "Run a command in a sandbox",
                """
                Runs a program in a running sandbox and returns its output and exit code, which is no error of this tool. Files are kept between calls; \
                a changed working directory or variable is not. The sandbox must be started first with sandbox_start. To \
                leave a server running, for 'ports' of sandbox_start, start it in the background of a shell with its \
                output in a file: 'python3 -m http.server 8000 --bind 0.0.0.0 >server.log 2>&1 &'. It runs on when the \
                command has ended, until the sandbox stops; with 'background' it would end at 'timeout'.""",
                ExecutionArguments.addTo(input, settings).keywords(),
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
        CommandLine line = CommandLine.of(
                arguments.requiredText("command", MAX_COMMAND_CHARS),
                arguments.texts("args", MAX_ARGS, MAX_ARGS_CHARS).orElse(List.of()));
        if (line.characters() > MAX_ARGS_CHARS) {
            throw new InvalidArgument(
                    "'command' and 'args' must have at most %d characters in all; pass more by 'stdin'"
                            .formatted(MAX_ARGS_CHARS));
        }
        var request = new ExecutionRequest.Command(
                line.program(),
                line.args(),
                line.isShellLine(),
                arguments.text("cwd", MAX_CWD_CHARS).orElse(WORKSPACE),
                arguments.variables("envs").orElse(Map.of()),
                arguments.text("stdin", MAX_STDIN_CHARS).orElse(""),
                ExecutionArguments.limits(arguments, settings));
        return runs.run(ref, request, call.patience(settings.startWait())).map(ExecutionAnswer::of);
    }

    /**
     * What is really started. Models write whole command lines, so {@code ls -la | head} alone is given to a shell, also
     * with an empty {@code args}, which many of them add; as soon as there is an argument, nothing is interpreted. Lines
     * of a line end as the shell has it, also if they were written on Windows.
     */
    record CommandLine(String program, List<String> args, boolean isShellLine) {

        private static final String SHELL_CHARACTERS = " \t\n|&;<>()$`\\\"'*?[]{}~#";
        private static final Pattern CARRIAGE_RETURN = Pattern.compile("\\r+(?=\n|\\z)");

        static CommandLine of(String command, List<String> args) {
            if (command.isBlank()) {
                throw new InvalidArgument("'command' must not be empty");
            }
            if (!args.isEmpty()) {
                return new CommandLine(command, args, false);
            }
            String text = CARRIAGE_RETURN.matcher(command).replaceAll("");
            return text.chars().anyMatch(c -> SHELL_CHARACTERS.indexOf(c) >= 0)
                    ? new CommandLine("sh", List.of("-c", text), true)
                    : new CommandLine(text, args, false);
        }

        int characters() {
            return program.length() + args.stream().mapToInt(String::length).sum();
        }
    }
}
