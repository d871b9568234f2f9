package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import dev.sandglass.gateway.output.CutOutput;
import dev.sandglass.gateway.output.OutputCollector;
import dev.sandglass.gateway.output.Shares;
import dev.sandglass.gateway.sandbox.Restarts;
import dev.sandglass.gateway.sandbox.SandboxEnd.ContainerEnded;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is cut can be read on as long as there may be a supervisor that holds it, and no longer. */
class VerdictTest {

    static final Verdict[] SUPERVISOR_IS_GONE = {
        Verdict.containerEnded(new ContainerEnded("Out of memory", true)),
        Verdict.containerEnded(new ContainerEnded("Exit code 3", false)),
        Verdict.restarted(),
        Verdict.gone("evicted"),
        Verdict.forgotten(Restarts.NONE),
    };

    static final Verdict[] UNFINISHED = {Verdict.running(0), Verdict.disconnected(0), Verdict.unacknowledged("why")};

    private static ExecutionResult printed(Verdict verdict, String text) {
        OutputCollector output = OutputCollector.headAndTail(10, Shares.wide());
        output.add(new OutputRecord.Text(0, Stream.STDOUT, Blob.utf8(text)));
        return verdict.with(ExecutionId.random("default", "uid", 1), output);
    }

    @ParameterizedTest
    @FieldSource("SUPERVISOR_IS_GONE")
    void whatIsCutIsLostWithItsSupervisor(Verdict verdict) {
        ExecutionResult result = printed(verdict, "head, middle, tail");

        assertThat(result.cut()).isEqualTo(CutOutput.LOST);
        assertThat(result.truncated()).isTrue();
        assertThat(result.lostBytes()).isZero();
        assertThat(result.stdout()).startsWith("head,").endsWith(" tail");
    }

    @ParameterizedTest
    @FieldSource("SUPERVISOR_IS_GONE")
    void whatIsWholeLacksNothing(Verdict verdict) {
        ExecutionResult result = printed(verdict, "all");

        assertThat(result.cut()).isEqualTo(CutOutput.NONE);
        assertThat(result.truncated()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ok", "error", "timeout", "interrupted", "kernel_died", "oom_killed"})
    void aSupervisorThatTellsTheEndHoldsWhatIsCut(String status) {
        var outcome = new OutputRecord.Outcome(18, status, 1, null, null, true, "", null, null, false);

        assertThat(printed(Verdict.of(outcome), "head, middle, tail").cut()).isEqualTo(CutOutput.READABLE);
    }

    /** The volumes of a pod outlive its containers, and only a persistent workspace outlives the pod. */
    @Test
    void whatBecomesOfFilesDependsOnWhatEnded() {
        assertThat(printed(Verdict.restarted(), "").message()).contains("variables are lost; files are kept.");
        assertThat(printed(Verdict.containerEnded(new ContainerEnded("Exit code 3", false)), "")
                        .message())
                .contains("files are kept.");
        assertThat(printed(Verdict.gone("evicted"), "").message())
                .contains("variables are lost, so are files outside a persistent workspace.");
    }

    @ParameterizedTest
    @FieldSource("UNFINISHED")
    void whatMayStillRunIsReadOn(Verdict verdict) {
        assertThat(printed(verdict, "head, middle, tail").cut()).isEqualTo(CutOutput.READABLE);
    }
}
