package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.execution.SupervisorProcess;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import dev.sandglass.gateway.testing.TestLinks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

/** For how long a sandbox counts as used by code that waits for its turn. */
class QueuedUseTest {

    private static void inBackground(TestGateway gateway, int timeout) throws Exception {
        gateway.call(
                "sandbox_run_code",
                JsonMapper.shared()
                        .writeValueAsString(Map.of(
                                "sandbox",
                                "test",
                                "code",
                                "import time; time.sleep(600)",
                                "timeout",
                                timeout,
                                "background",
                                true)));
    }

    @Test
    void isUntilItsTurnAndForItsTime() throws Exception {
        try (SupervisorProcess supervisor = SupervisorProcess.start();
                LinkClient links = TestLinks.start(SupervisorProcess.SECRET);
                TestGateway gateway = TestGateway.start(links)) {
            gateway.sandboxes.put(new SandboxState.Running(supervisor.sandbox()));
            gateway.awaitKernel(supervisor.sandbox());

            inBackground(gateway, 1000);
            inBackground(gateway, 200);
            inBackground(gateway, 30);

            List<Duration> noted = List.copyOf(gateway.sandboxes.busy);
            assertThat(noted)
                    .as("its own time first, as nothing is known of the queue before it is asked")
                    .startsWith(Duration.ofSeconds(1000), Duration.ofSeconds(200));
            // Each of those before it may take two seconds more, to end.
            assertThat(noted.get(2)).isBetween(Duration.ofSeconds(1190), Duration.ofSeconds(1202));
            assertThat(noted.getLast()).isBetween(Duration.ofSeconds(1220), Duration.ofSeconds(1234));
        }
    }
}
