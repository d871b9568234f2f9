package dev.sandglass.gateway.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.gateway.execution.SupervisorProcess;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import dev.sandglass.gateway.testing.TestLinks;
import dev.sandglass.testing.TrainedProgram;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/** What callers learn of a sandbox that gets through to what must be closed: from HTTP to a real supervisor. */
class OpenNetworkTest {

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private final ServerSocket closed = unbound();
    private final LinkClient links = TestLinks.start(SupervisorProcess.SECRET);
    private final TestGateway gateway = TestGateway.patient(links);

    @AfterEach
    void close() throws IOException {
        gateway.close();
        links.close();
        closed.close();
    }

    private static ServerSocket unbound() {
        try {
            return new ServerSocket();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private SupervisorProcess thatTries(int port, boolean required) {
        SupervisorProcess supervisor = SupervisorProcess.start(Map.of(
                "SANDGLASS_CLOSED_ADDRESSES",
                LOOPBACK.getHostAddress() + ":" + port,
                "SANDGLASS_REQUIRE_CLOSED",
                Boolean.toString(required)));
        gateway.sandboxes.put(new SandboxState.Running(supervisor.sandbox()));
        gateway.sandboxes.startsAnswer(Mono.just(supervisor.sandbox()));
        return supervisor;
    }

    private int reachable() throws IOException {
        closed.bind(new InetSocketAddress(LOOPBACK, 0));
        return closed.getLocalPort();
    }

    @Test
    void nothingRunsThereAndEachToolSaysWhatWasReachedAndWhatToDo() throws Exception {
        int port = reachable();
        try (SupervisorProcess _ = thatTries(port, true)) {
            JsonNode start = gateway.call("sandbox_start", "{\"sandbox\":\"test\"}");
            assertThat(start.path("isError").asBoolean()).isTrue();
            assertThat(TestGateway.text(start))
                    .startsWith("Error: Sandbox start failed: ")
                    .contains("(NetworkOpen)");
            JsonNode code = gateway.call("sandbox_run_code", "{\"sandbox\":\"test\",\"code\":\"1\"}");
            JsonNode command = gateway.call("sandbox_run_command", "{\"sandbox\":\"test\",\"command\":\"id\"}");
            JsonNode install =
                    gateway.call("sandbox_install_packages", "{\"sandbox\":\"test\",\"packages\":[\"none\"]}");

            assertThat(Stream.of(start, code, command, install).map(TestGateway::text))
                    .allSatisfy(text -> assertThat(text)
                            .contains(
                                    LOOPBACK.getHostAddress() + ":" + port,
                                    "'NetworkPolicies that are not enforced'",
                                    "Then call sandbox_stop and sandbox_start"));
            assertThat(Stream.of(code, command, install)).allSatisfy(answer -> {
                assertThat(answer.path("isError").asBoolean()).isTrue();
                assertThat(answer.path("structuredContent").path("status").asString())
                        .isEqualTo("rejected");
            });
            assertThat(links.stats().openNetworks()).isEqualTo(1);
        }
    }

    /** A plugin that lets go of a pod which it had shut in. */
    @Tag("slow")
    @Test
    void whatRunsWhenTheNetworkOpensIsEndedWithThatReasonAndKeepsItsOutput() throws Exception {
        int port = TrainedProgram.freePort();
        try (SupervisorProcess supervisor = thatTries(port, true)) {
            gateway.awaitKernel(supervisor.sandbox());
            // The code says that it runs by the file, and only then there is something to reach.
            Thread opens = Thread.ofVirtual().start(() -> opensOnce(supervisor, port));
            JsonNode run = gateway.call("sandbox_run_code", """
                    {"sandbox":"test","code":"print('begun', flush=True)\\nopen('begun', 'w').close()\\nimport time\\ntime.sleep(60)"}""");
            opens.join();

            assertThat(run.path("structuredContent").path("status").asString()).isEqualTo("interrupted");
            assertThat(run.path("isError").asBoolean()).isTrue();
            assertThat(TestGateway.text(run))
                    .startsWith("[interrupted] ")
                    .contains("\nbegun\n")
                    .contains("The run was ended. The sandbox got a connection to " + LOOPBACK.getHostAddress() + ":"
                            + port);
        }
    }

    private void opensOnce(SupervisorProcess supervisor, int port) {
        await().atMost(Duration.ofSeconds(60))
                .until(() -> supervisor.workspace().resolve("begun").toFile().exists());
        try {
            closed.bind(new InetSocketAddress(LOOPBACK, port));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Tag("slow")
    @Test
    void itRunsWithAWarningWhereTheInstallationDoesNotMind() throws Exception {
        try (SupervisorProcess _ = thatTries(reachable(), false)) {
            JsonNode start = gateway.call("sandbox_start", "{\"sandbox\":\"test\"}");
            assertThat(start.path("isError").asBoolean()).isFalse();

            JsonNode run = gateway.call("sandbox_run_code", "{\"sandbox\":\"test\",\"code\":\"1 + 1\"}");

            assertThat(run.path("structuredContent").path("status").asString()).isEqualTo("ok");
            assertThat(TestGateway.text(run)).startsWith("2\n").contains("requireEnforcement is false");
            assertThat(links.stats().openNetworks()).isEqualTo(1);
        }
    }
}
