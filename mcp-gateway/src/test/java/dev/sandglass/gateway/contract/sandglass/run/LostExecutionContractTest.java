package dev.sandglass.gateway.contract.sandglass.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What is told of an execution whose pod is gone, and of one whose pod this replica has not seen yet. */
class LostExecutionContractTest {

    private TestGateway gateway;
    private RunningSandbox sandbox;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        sandbox = gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode read(int incarnation) throws Exception {
        return gateway.call(
                "sandbox_get_execution",
                "{\"execution_id\":\"default.uid-box.%d.aaaaaaaaaaaaaaaa\"}".formatted(incarnation));
    }

    private RunningSandbox resumed() {
        return new RunningSandbox(sandbox.ref(), sandbox.uid(), 2, sandbox.address(), sandbox.port());
    }

    @Test
    void anExecutionOfAnotherIncarnationIsLost() throws Exception {
        JsonNode result = read(9);

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(result.path("structuredContent").path("status").asString()).isEqualTo("lost");
        assertThat(TestGateway.text(result)).startsWith("[lost] The pod in which this execution ran is gone");
    }

    /** Another replica saw it resumed, ran something, and told the id: who is told lost runs it a second time. */
    @Tag("slow")
    @Test
    void anExecutionOfAnIncarnationThatIsSeenAMomentLaterIsNotLost() throws Exception {
        var now = new SandboxState.Running(resumed());
        gateway.sandboxes.onceNotSeen(() -> gateway.sandboxes.put(now));

        assertThat(read(2).path("structuredContent").path("status").asString()).isNotEqualTo("lost");
    }

    @Test
    void anExecutionOfAnEarlierIncarnationIsLostAtOnce() throws Exception {
        gateway.sandboxes.put(new SandboxState.Running(resumed()));

        assertThat(TestGateway.text(read(1)))
                .isEqualTo("[lost] The pod in which this execution ran is gone, and its output with it: its sandbox was"
                        + " stopped, suspended, restarted or deleted. Call sandbox_start and run the code again.");
    }
}
