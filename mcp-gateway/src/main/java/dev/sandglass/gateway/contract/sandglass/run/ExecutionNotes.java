package dev.sandglass.gateway.contract.sandglass.run;

import dev.sandglass.api.ForeignText;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.output.Image;
import java.util.ArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What stands below the output of an execution: what the output does not show. Pure. */
final class ExecutionNotes {

    private static final int MOST_TOOLS_NAMED = 8;

    private ExecutionNotes() {}

    /** What pictures there are, for readers to whom their client does not show them, and where they are whole. */
    static String pictures(ExecutionResult result) {
        var notes = new ArrayList<String>();
        if (!result.images().isEmpty()) {
            notes.add("[%d picture(s): %s]"
                    .formatted(
                            result.images().size(),
                            result.images().stream()
                                    .map(Image::mimeType)
                                    .distinct()
                                    .collect(Collectors.joining(", "))));
        }
        for (int number = 1; number <= result.images().size(); number++) {
            Image.Full full = result.images().get(number - 1).full();
            if (full != null) {
                notes.add("[Picture %d is scaled down from %d x %d pixels, %d bytes; in full size: %s]"
                        .formatted(
                                number,
                                full.width(),
                                full.height(),
                                full.bytes(),
                                full.path() == null ? "it could not be saved" : ForeignText.name(full.path())));
            }
        }
        if (result.imagesLeftOut() > 0) {
            notes.add("[%d more picture(s) did not fit into this answer; they %s]"
                    .formatted(
                            result.imagesLeftOut(),
                            result.cut() == CutOutput.LOST ? "are lost" : "come when you read on"));
        }
        return String.join("\n", notes);
    }

    /** Which tools the code called: the answers of tools are not seen otherwise. */
    static @Nullable String tools(ExecutionResult result) {
        if (result.tools().isEmpty()) {
            return null;
        }
        String named = result.tools().stream()
                .limit(MOST_TOOLS_NAMED)
                .map(tool -> "%s.%s \u00d7%d".formatted(tool.server(), tool.tool(), tool.calls()))
                .collect(Collectors.joining(", "));
        int others = result.tools().size() - MOST_TOOLS_NAMED;
        return "[tools] " + named + (others > 0 ? " and %d more".formatted(others) : "");
    }
}
