package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.output.ExecutionError;
import dev.sandglass.gateway.output.Image;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.toolserver.CalledTool;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What there is to say of an execution at one moment: its end, or how far it got.
 *
 * @param status how it stands
 * @param id by which it can be read on
 * @param stdout standard output (and text that was displayed) as a terminal would leave it, cut to the cap
 * @param stderr standard error in the same way
 * @param result the last expression's value as text; null if there was none
 * @param resultJson the same as data, if the code displayed it as JSON; else null
 * @param error the exception; null if there was none
 * @param images pictures that were drawn, oldest first
 * @param imagesLeftOut how many more there are that did not fit
 * @param exitCode of a command that ended by itself; else null
 * @param signal number of the signal that ended the command or the kernel; else null
 * @param durationMs how long it ran, queueing not counted, in milliseconds; 0 while it runs
 * @param cut what becomes of what is missing from the texts or pictures because they are full
 * @param lostBytes how many bytes of output are missing from the texts for good
 * @param nextOffset where to read on, unless that is lost, in bytes of the execution's output: the first byte that is
 *     missing, else the end
 * @param kernelRestarted whether its kernel was replaced, so that variables are gone
 * @param message what happened and why, for all but {@code ok}; may be empty
 * @param next what to do about that; null if the message says it, or there is nothing
 * @param warning what went otherwise than asked for, although the code ran or runs; null if nothing
 * @param warningNext what to do about that; null if the warning says it, or there is nothing
 * @param queuePosition how many executions come before it; 0 when it runs or is done
 * @param tools of MCP servers, which it called; empty while it runs
 */
public record ExecutionResult(
        ExecutionStatus status,
        ExecutionId id,
        String stdout,
        String stderr,
        @Nullable String result,
        @Nullable JsonNode resultJson,
        @Nullable ExecutionError error,
        List<Image> images,
        int imagesLeftOut,
        @Nullable Integer exitCode,
        @Nullable Integer signal,
        long durationMs,
        CutOutput cut,
        long lostBytes,
        long nextOffset,
        boolean kernelRestarted,
        String message,
        @Nullable NextStep next,
        @Nullable String warning,
        @Nullable NextStep warningNext,
        int queuePosition,
        List<CalledTool> tools) {

    /** Keeps its own copies of the lists. */
    public ExecutionResult {
        images = List.copyOf(images);
        tools = List.copyOf(tools);
    }

    /** Whether anything is missing, for good or not. */
    public boolean truncated() {
        return cut != CutOutput.NONE || lostBytes > 0;
    }

    /** Says status and sizes, never what the code printed. */
    @Override
    public String toString() {
        return "ExecutionResult[%s, %s, stdout %d, stderr %d, %d images, next offset %d]"
                .formatted(status.word(), id, stdout.length(), stderr.length(), images.size(), nextOffset);
    }
}
