package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.execution.ExecutionRequest;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import tools.jackson.databind.JsonNode;

/** Starts that come to nothing, or not to much in the time that their caller waits. */
class StartEndsTest {

    private static final SandboxRef REF = new SandboxRef("default", "sandglass-default", "x", "x");

    @Test
    void theCauseIsToldInsteadOfWaitingOn() throws Exception {
        try (TestGateway gateway = TestGateway.start()) {
            gateway.supervisor.vanish();
            gateway.sandboxes.end("x", "The image cannot be a sandbox (ImageUnusable)");

            JsonNode result = gateway.call("sandbox_start", "{\"sandbox\":\"x\"}");

            assertThat(result.path("isError").asBoolean()).isTrue();
            assertThat(TestGateway.text(result))
                    .isEqualTo(
                            "Error: Sandbox start failed: Sandbox 'x' ended before it answered: The image cannot be a"
                                    + " sandbox (ImageUnusable).");
        }
    }

    @Test
    void aKernelThatWasGivenUpIsNotWaitedFor() throws Exception {
        try (TestGateway gateway = TestGateway.start()) {
            gateway.supervisor.giveUp("No module named 'ipykernel'");

            JsonNode result = gateway.call("sandbox_start", "{\"sandbox\":\"x\"}");

            assertThat(TestGateway.text(result))
                    .isEqualTo(
                            "Sandbox x was started, but couldn't verify it's running: The sandbox's Python kernel could"
                                    + " not be started: No module named 'ipykernel'. Call sandbox_stop and then"
                                    + " sandbox_start to try again, with another image if this one lacks something.");
            assertThat(result.path("structuredContent").path("status").asString())
                    .isEqualTo("unverified");
        }
    }

    @Test
    void whatHoldsUpAStartIsToldWhenTheWaitingEnds() throws Exception {
        try (TestGateway gateway = TestGateway.hasty()) {
            gateway.sandboxes.startsAnswer(Mono.never());
            gateway.sandboxes.put(new SandboxState.Pending(REF, "uid-x", "Evicted", "The node put the pod out."));

            JsonNode result = gateway.call("sandbox_start", "{\"sandbox\":\"x\"}");

            assertThat(TestGateway.text(result))
                    .isEqualTo(
                            "Sandbox x was started, but timed out waiting for it to be fully running. It may still be"
                                    + " initializing. Its condition is Evicted: The node put the pod out. Call"
                                    + " sandbox_start again with the same arguments to go on waiting.");
        }
    }

    @Test
    void whoeverWantsProgressIsToldEachCondition() throws Exception {
        String call = TestGateway.toolCall("sandbox_start", "{\"sandbox\":\"x\"}")
                .replace("\"params\":{", "\"params\":{\"_meta\":{\"progressToken\":1},");
        try (TestGateway gateway = TestGateway.patient()) {
            gateway.sandboxes.put(new SandboxState.Pending(REF, "uid-x", "Starting", "The pod was made"));
            gateway.sandboxes.startsAnswer(Mono.never());

            try (Stream<String> lines = gateway.lines(gateway.post(call))) {
                Iterator<String> told =
                        lines.filter(line -> line.startsWith("data: ")).iterator();
                assertThat(told.next()).contains("\"progress\":1", "Starting: The pod was made.\\n");
                gateway.sandboxes.put(new SandboxState.Pending(REF, "uid-x", "Starting", "The node pulls the image"));
                assertThat(told.next()).contains("\"progress\":2", "Starting: The node pulls the image.\\n");
                gateway.executions.drain();
                assertThat(told.next()).contains("It may still be initializing");
                assertThat(told).isExhausted();
            }
        }
    }

    @Test
    void aReplicaThatEndsAnswersWhoWaitsForAStart() throws Exception {
        try (TestGateway gateway = TestGateway.patient()) {
            gateway.sandboxes.startsAnswer(Mono.<RunningSandbox>never().doOnSubscribe(_ -> gateway.executions.drain()));

            assertThat(TestGateway.text(gateway.call("sandbox_start", "{\"sandbox\":\"x\"}")))
                    .endsWith("Call sandbox_start again with the same arguments to go on waiting.");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "sandbox_run_code | {'sandbox':'x','code':'1'}",
                "sandbox_read_file | {'sandbox':'x','path':'a'}",
            })
    void aReplicaThatEndsAnswersWhoWaitsForAResumption(String tool, String arguments) throws Exception {
        try (TestGateway gateway = TestGateway.patient()) {
            gateway.sandboxes.put(new SandboxState.Asleep(REF, "uid-x", "Idle"));
            gateway.sandboxes.startsAnswer(Mono.<RunningSandbox>never().doOnSubscribe(_ -> gateway.executions.drain()));

            assertThat(TestGateway.text(gateway.call(tool, arguments.replace('\'', '"'))))
                    .isEqualTo("Error: Sandbox 'x' is not running: it was suspended and is still being resumed. Call"
                            + " sandbox_start with this name to wait for it, then repeat this call; variables of"
                            + " earlier calls are lost.");
        }
    }

    /** The resumption itself is done, and the kernel of it is not there yet. */
    @Test
    void aReplicaThatEndsAnswersWhoWaitsForAResumedKernel() throws Exception {
        try (TestGateway gateway = TestGateway.patient()) {
            gateway.sandboxes.put(new SandboxState.Asleep(REF, "uid-x", "Idle"));
            gateway.supervisor.vanish();
            Mono<RunningSandbox> resumed = Mono.fromSupplier(() -> gateway.sandboxes.addRunning("x"));
            gateway.sandboxes.startsAnswer(resumed.doOnNext(_ -> {
                Schedulers.parallel().schedule(gateway.executions::drain, 200, TimeUnit.MILLISECONDS);
            }));

            assertThat(TestGateway.text(gateway.call("sandbox_run_code", "{\"sandbox\":\"x\",\"code\":\"1\"}")))
                    .contains("is still being resumed");
        }
    }

    @Test
    void aSandboxThatStaysBehindAFailedStartIsToldSo() throws Exception {
        try (TestGateway gateway = TestGateway.start()) {
            gateway.sandboxes.startsAnswer(
                    Mono.error(new SandboxProblem.StartFailed(REF, "VolumeMissing", "there is no claim data")));
            assertThat(TestGateway.text(gateway.call("sandbox_start", "{\"sandbox\":\"x\"}")))
                    .endsWith("there is no claim data");

            gateway.sandboxes.put(new SandboxState.Pending(REF, "uid-x", "VolumeMissing", "there is no claim data"));
            assertThat(TestGateway.text(gateway.call("sandbox_start", "{\"sandbox\":\"x\"}")))
                    .contains(
                            "there is no claim data. What it was asked",
                            "('volumes': [] for none), or sandbox_stop with 'delete' first");
        }
    }

    /** The caller has waited for the sandbox already, and gives up a minute after its call. */
    @Test
    void aResumptionIsPartOfTheWaiting() {
        var limits = new ExecutionRequest.Limits(Duration.ofMinutes(2), Duration.ofSeconds(50), false, 100);
        assertThat(limits.after(Duration.ofSeconds(20)).waitFor()).isEqualTo(Duration.ofSeconds(30));
        assertThat(limits.after(Duration.ofSeconds(60)).waitFor()).isEqualTo(Duration.ofSeconds(2));
        var hurried = new ExecutionRequest.Limits(Duration.ofMinutes(2), Duration.ofSeconds(1), false, 100);
        assertThat(hurried.after(Duration.ofSeconds(20)).waitFor()).isEqualTo(Duration.ofSeconds(1));
    }

    @Test
    void whatHoldsUpAResumptionIsToldWhenTheWaitingEnds() throws Exception {
        try (TestGateway gateway = TestGateway.hasty()) {
            var pending = new SandboxState.Pending(REF, "uid-x", "NodeLost", "Node n does not answer");
            gateway.sandboxes.put(new SandboxState.Asleep(REF, "uid-x", "Idle"));
            gateway.sandboxes.startsAnswer(
                    Mono.<RunningSandbox>never().doOnSubscribe(_ -> gateway.sandboxes.put(pending)));

            JsonNode result = gateway.call("sandbox_run_code", "{\"sandbox\":\"x\",\"code\":\"1\"}");

            assertThat(TestGateway.text(result))
                    .isEqualTo(
                            "Error: Sandbox 'x' is not running: it was suspended and is still being resumed (NodeLost:"
                                    + " Node n does not answer). Call sandbox_start with this name to wait for it, then"
                                    + " repeat this call; variables of earlier calls are lost.");
        }
    }
}
