package dev.sandglass.gateway.contract.dropin.ipybox;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.Losses;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.contract.dropin.Unreached;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import tools.jackson.databind.node.JsonNodeFactory;

/** The answer of {@code execute_ipython_cell} and {@code install_package}: one text, and pictures (contracts.md I9, I10). */
final class CellAnswer {

    private final Run run;
    private final ExecutionResult result;
    private final Steps steps;

    CellAnswer(Run run, Steps steps) {
        this.run = run;
        this.result = run.result();
        this.steps = steps;
    }

    /** Of the answer as data. */
    static Map<String, Object> schema() {
        return Schema.object()
                .required("result", Schema.text("What the text says"))
                .keywords();
    }

    /**
     * The answer.
     *
     * @param shown the output, cut
     * @param pictures absolute paths
     * @param newSandbox name of the sandbox if the caller chose it and it was not there
     */
    ToolResult result(String shown, List<String> pictures, Optional<String> newSandbox) {
        boolean failed = result.status() != ExecutionStatus.OK;
        String body = failed ? CellText.failure(shown, result, message()) : shown;
        String text = CellText.visible(FencedText.of(withLinks(body, pictures), notes(newSandbox)));
        var content = new ArrayList<ToolResult.Content>();
        content.add(new ToolResult.Content.Text(text));
        result.images().forEach(image -> content.add(new ToolResult.Content.Image(image.mimeType(), image.base64())));
        return new ToolResult(
                content,
                JsonNodeFactory.instance.objectNode().put("result", text),
                failed,
                result.status().word(),
                result.id().toString());
    }

    private static String withLinks(String body, List<String> pictures) {
        if (pictures.isEmpty()) {
            return body;
        }
        var text = new StringBuilder(body).append(body.isEmpty() ? "" : "\n\n").append("Generated images:\n");
        pictures.forEach(path -> text.append("\n- [Generated image](")
                .append(ForeignText.name(path))
                .append(')'));
        return text.toString();
    }

    private String message() {
        String told = steps.told(result.message(), result.next());
        return switch (result.status()) {
            case RUNNING -> "No answer yet: this replica of the gateway ends. The cell goes on in its kernel.";
            case TIMEOUT -> "Execution timed out" + (told.isEmpty() ? "" : ": " + told);
            default -> told.isEmpty() ? result.status().word() : told;
        };
    }

    private List<String> notes(Optional<String> newSandbox) {
        return Stream.of(
                        newSandbox.map(name -> "Sandbox '%s' was not there: this one is new.".formatted(name)),
                        Losses.resumed(run),
                        Losses.warning(result, steps),
                        result.status() == ExecutionStatus.OK
                                        && !result.message().isEmpty()
                                ? Optional.of(steps.told(result.message(), result.next()))
                                : Optional.<String>empty(),
                        result.imagesLeftOut() > 0
                                ? Optional.of("%d more picture(s) did not fit.".formatted(result.imagesLeftOut()))
                                : Optional.<String>empty(),
                        Unreached.told(run.unreached()))
                .flatMap(Optional::stream)
                .toList();
    }
}
