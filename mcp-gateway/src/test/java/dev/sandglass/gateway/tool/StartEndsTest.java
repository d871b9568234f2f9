package dev.sandglass.gateway.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A start whose pod is called running and ends before its kernel answers. */
class StartEndsTest {

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
}
