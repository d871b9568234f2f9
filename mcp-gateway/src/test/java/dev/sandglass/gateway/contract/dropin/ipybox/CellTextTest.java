package dev.sandglass.gateway.contract.dropin.ipybox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.action.Run;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.contract.dropin.Steps;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.output.ExecutionError;
import dev.sandglass.gateway.output.Image;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The texts of {@code execute_ipython_cell} for what no stand-in for a supervisor does. */
class CellTextTest {

    private static final String FILE = "/workspace/images/a-1.png";

    private static ExecutionResult result(ExecutionStatus status, @Nullable ExecutionError error, List<Image> images) {
        return new ExecutionResult(
                status,
                new ExecutionId("default", "uid-box", 1, "a".repeat(16)),
                "out\n",
                "err",
                "43",
                null,
                error,
                images,
                0,
                null,
                null,
                0,
                CutOutput.NONE,
                0,
                7,
                false,
                status == ExecutionStatus.OK ? "" : "It ended.",
                null,
                null,
                null,
                0,
                List.of());
    }

    private static ToolResult answer(ExecutionResult result, String shown, List<String> pictures) {
        return new CellAnswer(new Run(result, null, false, List.of()), new Steps(_ -> Optional.empty()))
                .result(shown, pictures, Optional.empty());
    }

    private static String text(ToolResult answer) {
        return ((ToolResult.Content.Text) answer.content().getFirst()).text();
    }

    @Test
    void i9OutputErrorsAndValueAreOneText() {
        assertThat(CellText.output(result(ExecutionStatus.OK, null, List.of()))).isEqualTo("out\nerr\n43");
    }

    @Test
    void i9PicturesAreLinkedAndShown() {
        var picture = new Image("image/png", "AAAA", 3, null);
        ToolResult answer = answer(result(ExecutionStatus.OK, null, List.of(picture)), "out", List.of(FILE));

        assertThat(text(answer)).isEqualTo("out\n\nGenerated images:\n\n- [Generated image](" + FILE + ")");
        assertThat(answer.content()).contains(new ToolResult.Content.Image("image/png", "AAAA"));
    }

    @Test
    void i10ATimeoutKeepsWhatWasPrinted() {
        ToolResult answer = answer(result(ExecutionStatus.TIMEOUT, null, List.of()), "begun", List.of());
        assertThat(text(answer)).isEqualTo("begun\nExecution timed out: It ended.");
        assertThat(answer.isError()).isTrue();
    }

    /** Clients cut errors: the traceback matters more than what was printed. */
    @Test
    void i10ALongErrorKeepsItsTraceback() {
        String traceback = "T" + "t".repeat(7_998) + "T";
        var error = new ExecutionError("ValueError", "no", traceback);
        String text = text(answer(result(ExecutionStatus.ERROR, error, List.of()), "o".repeat(300_000), List.of()));

        assertThat(text).endsWith(traceback).hasSizeLessThan(9_200);
    }
}
