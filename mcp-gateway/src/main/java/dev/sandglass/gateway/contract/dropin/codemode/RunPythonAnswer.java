package dev.sandglass.gateway.contract.dropin.codemode;

import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.Losses;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.contract.dropin.Unreached;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.output.ExecutionError;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What came of the code of {@code run_python}, as of a program of its own (contracts.md X9, X10, X12). */
final class RunPythonAnswer {

    private static final int KILLED = 137;
    private static final int INTERRUPTED = 130;
    private static final String UNKNOWN_SERVER = "Unknown MCP server: ";
    private static final Pattern WHOLE = Pattern.compile("-?[0-9]{1,9}");

    private final Run run;
    private final ExecutionResult result;
    private final Duration timeout;
    private final List<String> servers;
    private final Steps steps;

    /**
     * Of one call.
     *
     * @param servers the MCP servers that it loaded
     */
    RunPythonAnswer(Run run, Duration timeout, List<String> servers, Steps steps) {
        this.run = run;
        this.result = run.result();
        this.timeout = timeout;
        this.servers = servers;
        this.steps = steps;
    }

    /**
     * The answer in that form.
     *
     * @param newSandbox name of the sandbox if the caller chose it and it was not there
     */
    ToolResult in(OutputForm form, Optional<String> newSandbox) {
        return payload(notes(newSandbox))
                .result(
                        form,
                        result.images(),
                        result.status().word(),
                        result.id().toString());
    }

    private Payload payload(List<String> notes) {
        return switch (result.status()) {
            case OK -> success(notes);
            case ERROR -> raised(notes);
            case INTERRUPTED -> exited(INTERRUPTED, result.stderr(), notes);
            case OOM_KILLED -> exited(KILLED, stderrAnd(message()), notes);
            case KERNEL_DIED -> exited(died(), stderrAnd(message()), notes);
            case TIMEOUT -> late(notes);
            case RUNNING, REJECTED, ENV_ERROR, LOST ->
                new Payload(
                        "error",
                        "Unexpected failure",
                        null,
                        result.stdout(),
                        result.stderr(),
                        message(),
                        null,
                        servers,
                        notes);
        };
    }

    private Payload success(List<String> notes) {
        boolean silent = result.stdout().isEmpty() && result.stderr().isEmpty();
        String summary = silent ? "Success (no output)" : "Success";
        return new Payload(Payload.SUCCESS, summary, 0, result.stdout(), result.stderr(), null, null, servers, notes);
    }

    /** {@code sys.exit} ends a program with its number; of a text the sandbox has printed it to standard error. */
    private Payload raised(List<String> notes) {
        ExecutionError error = result.error();
        if (error == null) {
            return exited(1, stderrAnd(message()), notes);
        }
        if (error.name().equals("SystemExit")) {
            boolean number = WHOLE.matcher(error.message()).matches();
            return exited(number ? Integer.parseInt(error.message()) & 0xff : 1, result.stderr(), notes);
        }
        if (isOfServers(error)) {
            return new Payload(
                    "validation_error", error.message(), null, "", "", error.message(), null, List.of(), notes);
        }
        String traceback = error.traceback().isEmpty() ? error.name() + ": " + error.message() : error.traceback();
        return exited(1, stderrAnd(traceback), notes);
    }

    /** Before the code is run its servers are loaded, with the kernel's help: the sandbox alone knows all of them. */
    private boolean isOfServers(ExecutionError error) {
        return !servers.isEmpty()
                && error.name().equals("MCPError")
                && error.message().startsWith(UNKNOWN_SERVER)
                && result.stdout().isEmpty();
    }

    private Payload exited(int code, String stderr, List<String> notes) {
        // As of a program: a number whose lowest byte is 0 is success.
        if (code == 0) {
            return new Payload(Payload.SUCCESS, "Success", 0, result.stdout(), stderr, null, null, servers, notes);
        }
        String error = "Sandbox exited with code " + code;
        return new Payload(
                "error", "Sandbox error: " + error, code, result.stdout(), stderr, error, null, servers, notes);
    }

    private Payload late(List<String> notes) {
        long seconds = timeout.toSeconds();
        return new Payload(
                "timeout",
                "Timeout: execution exceeded %ds".formatted(seconds),
                null,
                result.stdout(),
                result.stderr(),
                "Execution timed out after %ds".formatted(seconds),
                seconds,
                servers,
                notes);
    }

    private int died() {
        Integer code = result.exitCode();
        Integer signal = result.signal();
        return signal != null ? 128 + signal : code != null && code != 0 ? code & 0xff : 1;
    }

    private String stderrAnd(String more) {
        String stderr = result.stderr();
        return stderr + (stderr.isEmpty() || stderr.endsWith("\n") ? "" : "\n") + more;
    }

    private String message() {
        String told = steps.told(result.message(), result.next());
        return told.isEmpty() ? result.status().word() : told;
    }

    private List<String> notes(Optional<String> newSandbox) {
        return Stream.of(
                        newSandbox.map(name -> "Sandbox '%s' was not there: this one is new.".formatted(name)),
                        // Where no variables stay, it tells nobody anything that they were lost before.
                        result.kernelRestarted() ? Optional.<String>empty() : Losses.warning(result, steps),
                        cut(),
                        Unreached.told(run.unreached()))
                .flatMap(Optional::stream)
                .toList();
    }

    private Optional<String> cut() {
        return result.truncated() || result.imagesLeftOut() > 0
                ? Optional.of("Output is cut: print less, or write it to a file and read parts of it in another call.")
                : Optional.empty();
    }
}
