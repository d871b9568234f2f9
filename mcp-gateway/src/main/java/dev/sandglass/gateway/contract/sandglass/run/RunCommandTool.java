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
        Schema input = SandboxArguments.schemaForNew()
                .required(
                        "command",
                        Schema.text(
                                "A program for 'args'; or, without 'args', a command line for bash (sh without one)"))
                .optional("args", Schema.list("Its arguments, no shell", Schema.ofType("string")))
                .optional("cwd", Schema.text("Default /workspace"))
                .optional("stdin", Schema.text("Standard input"));
        this.definition = new ToolDefinition(
                        "sandbox_run_command",
                        "Run a command",
                        """
                Runs a program in a sandbox and returns its output and exit code. Files stay for later calls; a changed \
                directory or variable does not. A sandbox that is not there is started. A server is left running with \
                'python3 -m http.server 8000 --bind 0.0.0.0 >server.log 2>&1 &'.""",
                        ExecutionArguments.addTo(StartArgument.addTo(input), settings)
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
        return runs.run(ref, request, StartArgument.read(call), call.patience(settings.startWait()))
                .map(ExecutionAnswer::of);
    }

    /**
     * What is really started. Models write whole command lines, so {@code ls -la | head} alone is given to a shell, also
     * with an empty {@code args}, which many of them add; as soon as there is an argument, nothing is interpreted. Lines
     * of a line end as the shell has it, also if they were written on Windows.
     */
    record CommandLine(String program, List<String> args, boolean isShellLine) {

        private static final String SHELL_CHARACTERS = " \t\n|&;<>()$`\\\"'*?[]{}~#";
        private static final Pattern CARRIAGE_RETURN = Pattern.compile("(?<!\\r)\\r++(?=\n|\\z)");

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
