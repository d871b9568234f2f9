package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.output.OutputCollector;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.SandboxEnd;
import dev.sandglass.gateway.toolserver.CalledTool;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How an execution stands and what to tell of it; with the collected output it becomes the answer. Pure.
 *
 * @param status the word
 * @param exitCode of a command
 * @param signal number of the signal that ended its process
 * @param durationMs in milliseconds
 * @param kernelRestarted whether variables are gone
 * @param message what and why; may be empty
 * @param next what to do about that; null if the message says it, or there is nothing
 * @param warning what went otherwise than asked for; null if nothing
 * @param warningNext what to do about that; null if the warning says it, or there is nothing
 * @param queuePosition how many come before it
 * @param readable whether there may be a supervisor that holds what it printed
 * @param tools of MCP servers, which it called
 */
public record Verdict(
        ExecutionStatus status,
        @Nullable Integer exitCode,
        @Nullable Integer signal,
        long durationMs,
        boolean kernelRestarted,
        String message,
        @Nullable NextStep next,
        @Nullable String warning,
        @Nullable NextStep warningNext,
        int queuePosition,
        boolean readable,
        List<CalledTool> tools) {

    /** It ended, as the supervisor says. */
    static Verdict of(OutputRecord.Outcome outcome) {
        return new Verdict(
                ExecutionStatus.of(outcome.status()),
                outcome.exitCode(),
                outcome.signal(),
                Math.round(outcome.durationMs()),
                outcome.kernelRestarted(),
                outcome.message(),
                outcome.next(),
                outcome.warning(),
                null,
                0,
                true,
                outcome.tools());
    }

    /** It ended, or never began, for a reason that only the gateway knows. */
    static Verdict of(ExecutionStatus status, String message, @Nullable NextStep next) {
        return new Verdict(status, null, null, 0, false, message, next, null, null, 0, true, List.of());
    }

    private static Verdict lost(String message, @Nullable NextStep next) {
        return new Verdict(ExecutionStatus.LOST, null, null, 0, false, message, next, null, null, 0, false, List.of());
    }

    private static Verdict running(
            String message, @Nullable String warning, @Nullable NextStep warningNext, int queuePosition) {
        return new Verdict(
                ExecutionStatus.RUNNING,
                null,
                null,
                0,
                false,
                message,
                null,
                warning,
                warningNext,
                queuePosition,
                true,
                List.of());
    }

    /** It waits behind others, or runs. */
    static Verdict running(int queuePosition) {
        return running(
                queuePosition > 0
                        ? "It waits in the kernel's queue behind " + queuePosition + " other execution(s)."
                        : "It is still running.",
                null,
                null,
                queuePosition);
    }

    /** It may go on; the supervisor cannot be asked. */
    static Verdict disconnected(int queuePosition) {
        return running(
                "It may still be running.",
                "The connection to the sandbox is interrupted; output may be missing.",
                null,
                queuePosition);
    }

    /** It was sent, and the supervisor did not say that it took it; {@code why} is a clause. */
    static Verdict unacknowledged(String why) {
        return running(
                "Whether it began is not known.",
                "The sandbox did not say that it took this (" + why + ").",
                NextStep.Plain.READ_EXECUTION,
                0);
    }

    /** It was sent, and never came to the sandbox. */
    static Verdict neverBegan() {
        return of(
                ExecutionStatus.REJECTED,
                "Not started: this execution never came to the sandbox, so nothing of it ran. Run it again.",
                null);
    }

    /** Its container was started again since it began, in the same pod, whose volumes stay. */
    static Verdict restarted() {
        return lost(
                "The sandbox's container was restarted, so this execution and all variables are lost; files are"
                        + " kept. Run the code again.",
                null);
    }

    /** The container in which it ran ended; the status says so if that was for lack of memory. */
    static Verdict containerEnded(SandboxEnd.ContainerEnded end) {
        String advice = end.outOfMemory() ? " Use less memory, or start a sandbox with more." : "";
        return new Verdict(
                end.outOfMemory() ? ExecutionStatus.OOM_KILLED : ExecutionStatus.LOST,
                null,
                null,
                0,
                true,
                "The sandbox's container ended while this ran: " + end.why() + ". The variables of all its sessions and"
                        + " what this had printed last are lost; files are kept." + advice,
                null,
                null,
                null,
                0,
                false,
                List.of());
    }

    /** Its pod is gone. */
    static Verdict gone(String why) {
        return lost(
                "The pod in which it ran is gone: " + why + ". This execution and all variables are lost, so are files"
                        + " outside a persistent workspace.",
                NextStep.Plain.START_AND_RERUN);
    }

    /** The supervisor does not know it; there may have been another one before. */
    static Verdict forgotten(Restarts restarts) {
        String history = restarts.count() == 0 ? "" : " Of its container: " + restarts.why() + ".";
        return lost(
                "The sandbox does not know this execution, or not any more: it keeps the newest 64, and none over a"
                        + " restart." + history + " Run the code again.",
                null);
    }

    /** The answer. */
    ExecutionResult with(ExecutionId id, OutputCollector output) {
        output.end();
        return new ExecutionResult(
                status,
                id,
                output.stdout(),
                output.stderr(),
                output.result(),
                output.resultJson(),
                output.error(),
                output.images(),
                output.imagesLeftOut(),
                exitCode,
                signal,
                durationMs,
                cut(output),
                output.lostBytes(),
                output.nextOffset(),
                kernelRestarted,
                message,
                next,
                warning,
                warningNext,
                queuePosition,
                tools);
    }

    /** The same, of an execution whose supervisor is gone. */
    Verdict unreadable() {
        return new Verdict(
                status,
                exitCode,
                signal,
                durationMs,
                kernelRestarted,
                message,
                next,
                warning,
                warningNext,
                queuePosition,
                false,
                tools);
    }

    private CutOutput cut(OutputCollector output) {
        if (!output.hasMore()) {
            return CutOutput.NONE;
        }
        return readable ? CutOutput.READABLE : CutOutput.LOST;
    }

    /** The answer for an execution of which nothing was read. */
    ExecutionResult alone(ExecutionId id, long nextOffset) {
        return new ExecutionResult(
                status,
                id,
                "",
                "",
                null,
                null,
                null,
                List.of(),
                0,
                exitCode,
                signal,
                durationMs,
                CutOutput.NONE,
                0,
                nextOffset,
                kernelRestarted,
                message,
                next,
                warning,
                warningNext,
                queuePosition,
                tools);
    }
}
