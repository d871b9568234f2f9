package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.execution.ExecutionRequest.Limits;
import dev.sandglass.gateway.sandbox.NextStep;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs that were sent and not acknowledged: nobody is led to run twice what may run. */
@Tag("slow")
class UnansweredRunTest {

    private final SupervisorProcess supervisor = SupervisorProcess.start();
    private final Replica hasty = new Replica(Duration.ofSeconds(1));
    private final Replica patient = new Replica();

    @BeforeEach
    void awaitKernel() {
        hasty.executions.awaitKernel(supervisor.sandbox()).block(Replica.LONG);
    }

    @AfterEach
    void stop() throws Exception {
        signal("CONT");
        hasty.close();
        patient.close();
        supervisor.close();
    }

    static Stream<Limits> waysToWait() {
        return Stream.of(Replica.PATIENT, Replica.waiting(Duration.ZERO), Replica.background());
    }

    @ParameterizedTest
    @MethodSource("waysToWait")
    void whatAStalledSandboxTookIsToldByItsId(Limits limits) throws Exception {
        signal("STOP");
        ExecutionResult told = hasty.run(supervisor.sandbox(), Replica.code("print('ran once')", limits));
        assertNotKnown(told);

        signal("CONT");
        ExecutionResult end = patient.read(supervisor.sandbox(), told.id(), 0, Replica.LONG);
        assertThat(end.status()).isEqualTo(ExecutionStatus.OK);
        assertThat(end.stdout()).isEqualTo("ran once\n");
    }

    @Test
    void soIsACommand() throws Exception {
        signal("STOP");
        ExecutionResult told = hasty.run(supervisor.sandbox(), Replica.command("echo", "ran once"));
        assertNotKnown(told);

        signal("CONT");
        assertThat(patient.read(supervisor.sandbox(), told.id(), 0, Replica.LONG)
                        .stdout())
                .isEqualTo("ran once\n");
    }

    @Test
    void whatGotLostOnItsWayIsToldNotToHaveRun() throws Exception {
        RunningSandbox direct = supervisor.sandbox();
        try (CutProxy proxy = new CutProxy(direct.port())) {
            RunningSandbox through = new RunningSandbox(
                    direct.ref(), direct.uid(), direct.incarnation(), direct.address(), proxy.port());
            await().ignoreExceptions().until(() -> hasty.run(through, "1").status() == ExecutionStatus.OK);
            proxy.swallow(true);
            ExecutionResult told = hasty.run(through, "open('ran', 'w')");
            assertNotKnown(told);

            proxy.swallow(false);
            proxy.cut();
            ExecutionResult never = patient.read(through, told.id(), 0, Replica.LONG);
            assertThat(never.status()).isEqualTo(ExecutionStatus.REJECTED);
            assertThat(never.message()).contains("never came", "nothing of it ran", "Run it again");
            assertThat(ran()).doesNotExist();
        }
    }

    private Path ran() {
        return supervisor.workspace().resolve("ran");
    }

    private static void assertNotKnown(ExecutionResult told) {
        assertThat(told.status()).isEqualTo(ExecutionStatus.RUNNING);
        assertThat(told.message()).contains("Whether it began is not known");
        assertThat(told.warning()).contains("did not say that it took this", "within 1.0 s");
        assertThat(told.warningNext()).isEqualTo(NextStep.Plain.READ_EXECUTION);
    }

    private void signal(String name) throws IOException, InterruptedException {
        String pid = Long.toString(supervisor.handle().pid());
        assertThat(new ProcessBuilder("kill", "-" + name, pid).start().waitFor())
                .isZero();
    }
}
