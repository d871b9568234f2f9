package dev.sandglass.gateway.contract.dropin.ipybox;

import dev.sandglass.gateway.contract.MiddleCut;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.output.ExecutionError;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The output of a cell as one text, and its cut (contracts.md I9, I10). Pure. */
final class CellText {

    /** Clients cut errors a little above. */
    static final int MOST_OF_AN_ERROR = 9_000;

    private static final int MOST_OF_A_TRACEBACK = 8_000;
    private static final String CUT = "[Output truncated: exceeded %d character limit]";
    private static final String NO_OUTPUT = "(no output)";

    private CellText() {}

    /** Standard output, standard error and the value of the last expression. */
    static String output(ExecutionResult result) {
        return Stream.of(result.stdout(), result.stderr(), result.result())
                .filter(part -> part != null && !part.isEmpty())
                .map(part -> part.endsWith("\n") ? part : part + "\n")
                .collect(Collectors.joining())
                .stripTrailing();
    }

    /**
     * The output within the limit.
     *
     * @param file that has more of it; null if there is none
     */
    static String shown(String output, int limit, @Nullable String file) {
        if (output.length() <= limit) {
            return output;
        }
        return MiddleCut.of(output, limit) + "\n" + CUT.formatted(limit)
                + (file == null ? "" : "\nMore of it is in " + file);
    }

    /** What goes wrong is the traceback, below what was printed before it. */
    static String failure(String shown, ExecutionResult result, String message) {
        ExecutionError error = result.error();
        boolean isTraceback = error != null && result.status() == ExecutionStatus.ERROR;
        String why = isTraceback && error != null
                ? (error.traceback().isEmpty() ? error.name() + ": " + error.message() : error.traceback())
                : message;
        String cut = MiddleCut.of(why, MOST_OF_A_TRACEBACK);
        String before = MiddleCut.of(shown, MOST_OF_AN_ERROR - cut.length());
        return before.isEmpty() ? cut : before + "\n" + cut;
    }

    /** No model takes an empty text. */
    static String visible(String text) {
        return ToolResult.isBlank(text) ? NO_OUTPUT : text;
    }
}
