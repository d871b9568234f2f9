package dev.sandglass.gateway.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
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
        try (TestGateway gateway = TestGateway.start()) {
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
    void whatHoldsUpAResumptionIsToldWhenTheWaitingEnds() throws Exception {
        try (TestGateway gateway = TestGateway.start()) {
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
