package dev.sandglass.gateway.contract.sandglass.run;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.action.Resumed;
import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.contract.MiddleCut;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.sandglass.sandbox.NextSteps;
import dev.sandglass.gateway.contract.sandglass.sandbox.ResumeNotice;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.output.ExecutionError;
import dev.sandglass.gateway.output.Image;
import dev.sandglass.gateway.toolserver.CalledTool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/** Renders the result of an execution: plain text and pictures for the model, the same facts for programs. */
final class ExecutionAnswer {

    private static final Schema JSON_VALUE = Schema.either(
            "The value as data, if it was displayed as JSON, 'result' is not cut, and there is room for it; else null",
            "object",
            "array",
            "string",
            "number",
            "boolean",
            "null");

    /** The code chooses its exceptions' names: in a line of ours stands none that could be more than a name. */
    private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_.]{0,63}");

    private static final int MAX_NAME_CHARS = 8 * 1024;

    private static final String NEW_SANDBOX =
            "[new sandbox] There was no sandbox of this name: it was started with the installation's defaults.";

    private static final String NO_OUTPUT = "(no output)";

    private static final String READ_ON = "Call sandbox_get_execution with this execution_id and offset %d to read on.";

    /** Agents cut errors at some 11,000 characters and hand the model the rest; what we say around them comes besides. */
    private static final int MOST_OF_AN_ERROR = 8_000;

    private static final int LEAST_OUTPUT = 1_000;

    private static final String ALL_OF_IT =
            "An error is kept short; all of the output: sandbox_get_execution with execution_id '%s'.";

    private static final String CUT_LOST = "What is cut of its output was held in the container alone and is lost.";

    private static final String LOST_BYTES =
            "%d bytes of its output are no longer held and cannot be read; a mark stands where they were.";

    private ExecutionAnswer() {}

    /** What programs read; the names are the contract. */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Facts(
            String status,
            String executionId,
            String stdout,
            String stderr,
            @Nullable String result,
            @Nullable JsonNode resultJson,
            @Nullable ErrorFacts error,
            List<ImageFacts> images,
            @Nullable Integer exitCode,
            @Nullable Integer signal,
            long durationMs,
            boolean truncated,
            long lostBytes,
            @Nullable Long nextOffset,
            List<String> deniedHosts,
            boolean kernelRestarted,
            String message,
            @Nullable String warning,
            int queuePosition,
            boolean sandboxCreated,
            List<CalledTool> toolsCalled) {}

    /** The exception that ended it. */
    record ErrorFacts(String name, String message, String traceback) {}

    /** A picture that is in the content; {@code path} and {@code fullBytes} if it was scaled down. */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record ImageFacts(
            String mimeType,
            int bytes,
            @Nullable String path,
            @Nullable Long fullBytes) {
        static ImageFacts of(Image image) {
            Image.Full full = image.full();
            return full == null
                    ? new ImageFacts(image.mimeType(), image.bytes(), null, null)
                    : new ImageFacts(image.mimeType(), image.bytes(), full.path(), full.bytes());
        }
    }

    static Map<String, Object> schema() {
        return Schema.object()
                .required("status", Schema.text("How it stands or ended").with("enum", words()))
                .required("execution_id", Schema.text("For sandbox_get_execution"))
                .required("stdout", Schema.text("Standard output as a terminal would leave it"))
                .required("stderr", Schema.text("Standard error as a terminal would leave it"))
                .required("result", Schema.text("Value of the last expression").orNull())
                .required("result_json", JSON_VALUE)
                .required("error", errorSchema())
                .required("images", Schema.list("Pictures, in the content in this order", imageSchema()))
                .required("exit_code", Schema.integer("Of a command").orNull())
                .required(
                        "signal",
                        Schema.integer("Number of the signal that ended the command or the kernel")
                                .orNull())
                .required("duration_ms", Schema.integer("Time it ran"))
                .required(
                        "truncated",
                        Schema.flag(
                                "Output is missing here; read it from next_offset on, but for what lost_bytes counts"))
                .required(
                        "lost_bytes",
                        Schema.integer("Bytes of output that the sandbox no longer holds: nobody can read them"))
                .required(
                        "next_offset",
                        Schema.integer("Where sandbox_get_execution reads on; null if what is cut is lost")
                                .orNull())
                .required(
                        "denied_hosts", Schema.list("What the network refused, newest last", Schema.text("host:port")))
                .required("kernel_restarted", Schema.flag("Variables of earlier calls are lost"))
                .required("message", Schema.text("What happened and what to do"))
                .required(
                        "warning",
                        Schema.text("What went otherwise than asked for, although the code ran or runs")
                                .orNull())
                .required("queue_position", Schema.integer("Executions before this one"))
                .required("sandbox_created", Schema.flag("The sandbox was not there, and was started for this"))
                .required("tools_called", Schema.list("Tools of MCP servers that the code called", toolSchema()))
                .keywords();
    }

    private static Schema errorSchema() {
        return Schema.object()
                .orNull()
                .with("description", "The exception, if there was one")
                .required("name", Schema.text("Class of the exception"))
                .required("message", Schema.text("Its message"))
                .required("traceback", Schema.text("Its traceback"));
    }

    private static Schema toolSchema() {
        return Schema.object()
                .required("server", Schema.text("Name of the server"))
                .required("tool", Schema.text("Name of the tool"))
                .required("calls", Schema.integer("Calls that it answered"));
    }

    private static Schema imageSchema() {
        return Schema.object()
                .required("mime_type", Schema.text("Kind of picture"))
                .required("bytes", Schema.integer("Size"))
                .required(
                        "path",
                        Schema.text("File with the full size, if this is scaled down")
                                .orNull())
                .required("full_bytes", Schema.integer("Size of the full size").orNull());
    }

    /** The answer of a call that ran something. */
    static ToolResult of(Run run) {
        @Nullable Resumed resumed = run.resumed();
        return of(
                run.result(),
                run.created(),
                resumed == null ? null : ResumeNotice.of(resumed.reason()),
                new NetworkNotice(run.unreached()));
    }

    /** The answer; {@code resumed} if the sandbox had to be brought back for this call, unless it says so itself. */
    static ToolResult of(ExecutionResult result, boolean created, @Nullable String resumed, NetworkNotice refused) {
        String notice = result.kernelRestarted() && result.warning() != null ? null : resumed;
        var content = new ArrayList<ToolResult.Content>();
        String text = text(result, created, notice, refused);
        if (!ToolResult.isBlank(text)) {
            content.add(new ToolResult.Content.Text(text));
        }
        result.images().forEach(image -> content.add(new ToolResult.Content.Image(image.mimeType(), image.base64())));
        if (content.isEmpty()) {
            content.add(new ToolResult.Content.Text(NO_OUTPUT));
        }
        return new ToolResult(
                content,
                facts(result, created, notice, refused),
                result.status().isError(),
                result.status().word(),
                result.id().toString());
    }

    private static Facts facts(
            ExecutionResult result, boolean created, @Nullable String notice, NetworkNotice refused) {
        ExecutionError error = result.error();
        return new Facts(
                result.status().word(),
                result.id().toString(),
                result.stdout(),
                result.stderr(),
                result.result(),
                result.resultJson(),
                error == null ? null : new ErrorFacts(error.name(), error.message(), error.traceback()),
                result.images().stream().map(ImageFacts::of).toList(),
                result.exitCode(),
                result.signal(),
                result.durationMs(),
                result.truncated(),
                result.lostBytes(),
                isCutLost(result) ? null : result.nextOffset(),
                refused.targets(),
                result.kernelRestarted() || notice != null,
                message(result, notice, refused),
                warning(result),
                result.queuePosition(),
                created,
                result.tools());
    }

    private static String message(ExecutionResult result, @Nullable String notice, NetworkNotice refused) {
        String hint = isReadOn(result) ? READ_ON.formatted(result.nextOffset()) : cutLost(result);
        String lost = result.lostBytes() > 0 ? LOST_BYTES.formatted(result.lostBytes()) : null;
        return Stream.of(message(result), lost, hint, notice, refused.notice())
                .filter(part -> part != null && !part.isEmpty())
                .collect(Collectors.joining(" "));
    }

    private static String message(ExecutionResult result) {
        return NextSteps.told(result.message(), result.next());
    }

    private static @Nullable String warning(ExecutionResult result) {
        return result.warning() == null ? null : NextSteps.told(result.warning(), result.warningNext());
    }

    /** Whether another call would get more. */
    private static boolean isReadOn(ExecutionResult result) {
        return result.status() == ExecutionStatus.RUNNING || result.cut() == CutOutput.READABLE;
    }

    private static boolean isCutLost(ExecutionResult result) {
        return result.cut() == CutOutput.LOST;
    }

    private static String cutLost(ExecutionResult result) {
        return isCutLost(result) ? CUT_LOST : "";
    }

    private static String text(
            ExecutionResult result, boolean created, @Nullable String notice, NetworkNotice refused) {
        String warning = warning(result);
        var text = new StringBuilder();
        paragraph(text, result.stdout());
        paragraph(text, result.stderr());
        paragraph(text, result.result());
        String traceback = traceback(result.error());
        boolean isLong = result.status().isError() && text.length() + traceback.length() > MOST_OF_AN_ERROR;
        if (isLong) {
            traceback = MiddleCut.of(traceback, MOST_OF_AN_ERROR - LEAST_OUTPUT);
            String shown = MiddleCut.of(text.toString(), MOST_OF_AN_ERROR - traceback.length());
            text.setLength(0);
            text.append(shown);
        }
        paragraph(text, traceback);
        paragraph(text, raised(result));
        String head = Stream.of(created ? NEW_SANDBOX : "", verdict(result))
                .filter(line -> !line.isEmpty())
                .collect(Collectors.joining(" "));
        return FencedText.of(
                head,
                text.toString(),
                Stream.of(
                                ExecutionNotes.pictures(result),
                                isLong && result.cut() == CutOutput.NONE
                                        ? ALL_OF_IT.formatted(result.id())
                                        : readOn(result),
                                warning == null ? null : "[warning] " + warning,
                                notice,
                                refused.notice(),
                                ExecutionNotes.tools(result))
                        .filter(Objects::nonNull)
                        .toList());
    }

    /** The line in front; empty if all went well. */
    private static String verdict(ExecutionResult result) {
        Integer exitCode = result.exitCode();
        String word = "[" + result.status().word() + "] ";
        String verdict =
                switch (result.status()) {
                    case OK, ERROR ->
                        exitCode != null && exitCode != 0
                                ? "[exit code %d] %s".formatted(exitCode, message(result))
                                : told(result, word);
                    case RUNNING ->
                        result.queuePosition() > 0 ? "[running, %d before it]".formatted(result.queuePosition()) : word;
                    case TIMEOUT, INTERRUPTED, KERNEL_DIED, OOM_KILLED, REJECTED, ENV_ERROR, LOST ->
                        word + message(result);
                };
        return verdict.strip();
    }

    private static String readOn(ExecutionResult result) {
        return isReadOn(result)
                ? "Read on: sandbox_get_execution with execution_id '%s' and offset %d."
                        .formatted(result.id(), result.nextOffset())
                : cutLost(result);
    }

    private static String told(ExecutionResult result, String word) {
        if (isRaised(result)) {
            ExecutionError error = result.error();
            return word + (error != null && PLAIN_NAME.matcher(error.name()).matches() ? error.name() : "");
        }
        String message = message(result);
        return message.isEmpty() ? "" : word + message;
    }

    /** Whether an exception ended it: then what is said of it are words that the code chose. */
    private static boolean isRaised(ExecutionResult result) {
        return result.status() == ExecutionStatus.ERROR && result.exitCode() == null && result.signal() == null;
    }

    /** The supervisor's words for an exception, its name and text, unless the traceback says them. */
    private static String raised(ExecutionResult result) {
        ExecutionError error = result.error();
        boolean said =
                error != null && result.message().startsWith(ForeignText.line(error.name(), MAX_NAME_CHARS) + ":");
        return isRaised(result) && !said ? message(result) : "";
    }

    private static String traceback(@Nullable ExecutionError error) {
        if (error == null) {
            return "";
        }
        return error.traceback().isEmpty() ? error.name() + ": " + error.message() : error.traceback();
    }

    private static void paragraph(StringBuilder text, @Nullable String part) {
        if (part == null || part.isEmpty()) {
            return;
        }
        if (!text.isEmpty() && text.charAt(text.length() - 1) != '\n') {
            text.append('\n');
        }
        text.append(part);
    }

    private static List<String> words() {
        return Arrays.stream(ExecutionStatus.values())
                .map(ExecutionStatus::word)
                .toList();
    }
}
