package dev.sandglass.gateway.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.execution.ExecutionError;
import dev.sandglass.gateway.execution.ExecutionId;
import dev.sandglass.gateway.execution.ExecutionResult;
import dev.sandglass.gateway.execution.ExecutionStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a model reads must say all that programs are told of how an execution ended. */
class ExecutionAnswerTest {

    private static final ExecutionId ID = ExecutionId.random("default", "uid", 1);
    private static final String LOST = "The end of its output is lost.";
    private static final ExecutionError ZERO = new ExecutionError(
            "ZeroDivisionError", "division by zero", "Traceback\nZeroDivisionError: division by zero");

    private static ExecutionResult ended(
            ExecutionStatus status,
            String message,
            @Nullable String warning,
            @Nullable ExecutionError error,
            boolean truncated) {
        return new ExecutionResult(
                status, ID, "", "", null, null, error, List.of(), 0, null, null, 5, truncated, 0, 7, false, message,
                warning, 0);
    }

    private static String read(ExecutionResult result) {
        ToolResult.Content first = answer(result).content().getFirst();
        return first instanceof ToolResult.Content.Text(String text) ? text : "";
    }

    private static ToolResult answer(ExecutionResult result) {
        return ExecutionAnswer.of(result, null, Refusals.Told.NONE);
    }

    private static String message(ExecutionResult result) {
        return answer(result).structuredContent() instanceof ExecutionAnswer.Facts facts ? facts.message() : "";
    }

    @Test
    void thatTheEndOfItsOutputIsLostIsSaidOfARunThatWentWell() {
        assertThat(read(ended(ExecutionStatus.OK, LOST, null, null, false))).isEqualTo("[ok] " + LOST);
    }

    @Test
    void thatTheEndOfItsOutputIsLostIsSaidBehindATraceback() {
        assertThat(read(ended(ExecutionStatus.ERROR, LOST, null, ZERO, false)))
                .isEqualTo(ZERO.traceback() + "\n[error] " + LOST);
    }

    @Test
    void anExceptionIsNotSaidTwice() {
        assertThat(read(ended(ExecutionStatus.ERROR, "ZeroDivisionError: division by zero", null, ZERO, false)))
                .isEqualTo(ZERO.traceback());
    }

    @Test
    void aRunOfWhichNothingMoreIsHeardSaysSo() {
        assertThat(read(ended(ExecutionStatus.RUNNING, "It may still be running.", "Interrupted.", null, false)))
                .startsWith("[running] Read on: sandbox_get_execution with execution_id '" + ID + "' and offset 7.")
                .endsWith("[warning] Interrupted.");
    }

    @Test
    void programsAreToldWhereToReadOnIfThereIsMore() {
        String more = "Call sandbox_get_execution with this execution_id and offset 7 to read on.";

        assertThat(message(ended(ExecutionStatus.RUNNING, "It is still running.", null, null, false)))
                .isEqualTo("It is still running. " + more);
        assertThat(message(ended(ExecutionStatus.OK, "", null, null, true))).isEqualTo(more);
        assertThat(message(ended(ExecutionStatus.OK, "", null, null, false))).isEmpty();
    }

    @Test
    void whatWasCutIsToBeReadOnHoweverItEnded() {
        assertThat(read(ended(ExecutionStatus.TIMEOUT, "Time is up.", null, null, true)))
                .isEqualTo("[timeout] Time is up. Read on: sandbox_get_execution with execution_id '" + ID
                        + "' and offset 7.");
    }

    @Test
    void whatIsGoneForGoodIsCountedAndNotToBeReadOn() {
        ExecutionResult lost = lost(ExecutionStatus.OK, false);
        assertThat(lost.truncated()).isTrue();
        assertThat(read(lost)).doesNotContain("Read on").doesNotContain("read on");
        assertThat(message(lost))
                .isEqualTo(
                        "500 bytes of its output are no longer held and cannot be read; a mark stands where they were.");
        assertThat(message(lost(ExecutionStatus.OK, true)))
                .contains("500 bytes")
                .endsWith("offset 7 to read on.");
    }

    @Test
    void ofWhatIsLostWithItsPodNothingIsToBeReadOn() {
        ExecutionResult lost = lost(ExecutionStatus.LOST, true);
        assertThat(read(lost)).doesNotContain("Read on");
        assertThat(message(lost)).doesNotContain("read on");
    }

    private static ExecutionResult lost(ExecutionStatus status, boolean more) {
        return new ExecutionResult(
                status, ID, "x", "", null, null, null, List.of(), 0, null, null, 5, more, 500, 7, false, "", null, 0);
    }
}
