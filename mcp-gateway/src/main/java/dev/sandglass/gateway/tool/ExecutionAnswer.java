package dev.sandglass.gateway.tool;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sandglass.gateway.execution.ExecutionError;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.annotation.JsonNaming;

/** Renders the result of an execution: plain text and pictures for the model, the same facts for programs. */
final class ExecutionAnswer {

    static final String RESUMED = "The sandbox was suspended because nobody used it, and was resumed for this"
            + " call: variables of earlier calls were lost, so were files outside a kept workspace.";

    private ExecutionAnswer() {}

    /** What programs read; the names are the contract (design.md, "The MCP endpoint"). */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record Facts(
            String status,
            String executionId,
            String stdout,
            String stderr,
            @Nullable String result,
            @Nullable ErrorFacts error,
            List<ImageFacts> images,
            @Nullable Integer exitCode,
            long durationMs,
            boolean truncated,
            long nextOffset,
            List<String> deniedHosts,
            boolean kernelRestarted,
            String message,
            int queuePosition) {}

    /** The exception that ended it. */
    record ErrorFacts(String name, String message, String traceback) {}

    /** A picture that is in the content. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    record ImageFacts(String mimeType, int bytes) {}

    static Map<String, Object> schema() {
        Schema error = Schema.object()
                .orNull()
                .required("name", Schema.text("Class of the exception"))
                .required("message", Schema.text("Its message"))
                .required("traceback", Schema.text("Its traceback"));
        Schema image = Schema.object()
                .required("mime_type", Schema.text("Kind of picture"))
                .required("bytes", Schema.integer("Size"));
        return Schema.object()
                .required("status", Schema.text("How it stands or ended").with("enum", words()))
                .required("execution_id", Schema.text("For sandbox_get_execution"))
                .required("stdout", Schema.text("Standard output"))
                .required("stderr", Schema.text("Standard error"))
                .required("result", Schema.text("Value of the last expression").orNull())
                .required("error", error.with("description", "The exception, if there was one"))
                .required("images", Schema.list("Pictures, in the content in this order", image))
                .required("exit_code", Schema.integer("Of a command").orNull())
                .required("duration_ms", Schema.integer("Time it ran"))
                .required("truncated", Schema.flag("Output is missing here; read it from next_offset on"))
                .required("next_offset", Schema.integer("Where sandbox_get_execution reads on"))
                .required("denied_hosts", Schema.list("Hosts that the network rules refused", Schema.text("Host")))
                .required("kernel_restarted", Schema.flag("Variables of earlier calls are lost"))
                .required("message", Schema.text("What happened and what to do"))
                .required("queue_position", Schema.integer("Executions before this one"))
                .keywords();
    }

    /** The answer; {@code resumed} if the sandbox had to be brought back for this call. */
    static ToolResult of(ExecutionResult result, boolean resumed) {
        var content = new ArrayList<ToolResult.Content>();
        content.add(new ToolResult.Content.Text(text(result, resumed)));
        result.images().forEach(image -> content.add(new ToolResult.Content.Image(image.mimeType(), image.base64())));
        return new ToolResult(
                content,
                facts(result, resumed),
                result.status().isError(),
                result.status().word(),
                result.id().toString());
    }

    private static Facts facts(ExecutionResult result, boolean resumed) {
        ExecutionError error = result.error();
        return new Facts(
                result.status().word(),
                result.id().toString(),
                result.stdout(),
                result.stderr(),
                result.result(),
                error == null ? null : new ErrorFacts(error.name(), error.message(), error.traceback()),
                result.images().stream()
                        .map(image ->
                                new ImageFacts(image.mimeType(), image.base64().length() / 4 * 3))
                        .toList(),
                result.exitCode(),
                result.durationMs(),
                result.truncated(),
                result.nextOffset(),
                List.of(),
                result.kernelRestarted() || resumed,
                message(result, resumed),
                result.queuePosition());
    }

    private static String message(ExecutionResult result, boolean resumed) {
        return !resumed ? result.message() : (result.message() + " " + RESUMED).strip();
    }

    private static String text(ExecutionResult result, boolean resumed) {
        var text = new StringBuilder();
        paragraph(text, result.stdout());
        paragraph(text, result.stderr());
        paragraph(text, result.result());
        ExecutionError error = result.error();
        if (error != null) {
            paragraph(text, error.traceback().isEmpty() ? error.name() + ": " + error.message() : error.traceback());
        }
        paragraph(text, verdict(result));
        paragraph(text, resumed ? RESUMED : null);
        boolean nothing = text.isEmpty() && result.images().isEmpty();
        return nothing ? "(no output)" : text.toString();
    }

    private static @Nullable String verdict(ExecutionResult result) {
        String readOn = "Read on: sandbox_get_execution with execution_id '%s' and offset %d."
                .formatted(result.id(), result.nextOffset());
        Integer exitCode = result.exitCode();
        return switch (result.status()) {
            case OK -> result.truncated() ? readOn : null;
            case ERROR ->
                exitCode != null && exitCode != 0
                        ? "[exit code %d] %s"
                                .formatted(exitCode, result.message())
                                .strip()
                        : messageOnly(result, "error");
            case RUNNING ->
                "[running%s] %s"
                        .formatted(
                                result.queuePosition() > 0 ? ", " + result.queuePosition() + " before it" : "", readOn);
            case TIMEOUT, INTERRUPTED, KERNEL_DIED, OOM_KILLED, REJECTED, ENV_ERROR, LOST ->
                "[%s] %s".formatted(result.status().word(), result.message()).strip();
        };
    }

    private static @Nullable String messageOnly(ExecutionResult result, String word) {
        return result.error() != null || result.message().isEmpty() ? null : "[" + word + "] " + result.message();
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
