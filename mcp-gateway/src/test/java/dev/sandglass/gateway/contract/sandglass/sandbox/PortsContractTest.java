package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.SandboxPort;
import dev.sandglass.gateway.port.PortSettings.ReachedBy;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** {@code config.ports} of {@code sandbox_start} (contracts.md M10), and where the ports are said to be. */
class PortsContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode startWith(String ports) throws Exception {
        return gateway.call("sandbox_start", "{\"sandbox\":\"Web_1\",\"config\":{\"ports\":%s}}".formatted(ports));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "['1:2'] | 'config.ports[0]' must be a port of the sandbox from 1024 to 65535 other than 5710",
                "[8000,5710] | 'config.ports[1]' must be a port",
                "['8000/udp'] | 'config.ports[0]' must be a port",
                "[1023] | 'config.ports[0]' must be a port",
                "[65536] | 'config.ports[0]' must be a port",
                "[8000.5] | 'config.ports[0]' must be a port",
                "['127.0.0.1:80:8000'] | 'config.ports[0]' must be a port",
                "[8000,'80:8000'] | 'config.ports[1]' names port 8000 a second time",
                "true | 'config.ports' must be a list of at most 16 ports",
                "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17] | 'config.ports' must be a list of at most 16 ports",
            })
    void portsThatBreakARuleAreNamedWithIt(String ports, String error) throws Exception {
        JsonNode result = startWith(ports.replace('\'', '"'));

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).startsWith("Error: " + error);
        assertThat(gateway.sandboxes.orders).isEmpty();
    }

    @Test
    void sixteenPortsAtTheBoundsAreAllowed() throws Exception {
        JsonNode result =
                startWith("[1024,65535,8000,8001,8002,8003,8004,8005,8006,8007,8008,8009,8010,8011,8012,8013]");

        assertThat(result.path("structuredContent").path("ports").size()).isEqualTo(16);
    }

    @Test
    void startTellsWhereThePortsAreReached() throws Exception {
        JsonNode result = startWith("[9000,\"8000\",\"80:8001\",\"8002/tcp\"]");

        assertThat(gateway.sandboxes.configs.getFirst().ports())
                .extracting(SandboxPort::port)
                .containsExactly(9000, 8000, 8001, 8002);
        JsonNode first = result.path("structuredContent").path("ports").path(0);
        assertThat(first.path("port").asInt()).isEqualTo(9000);
        assertThat(first.path("url").asString()).isEqualTo("/sandboxes/default/Web_1/ports/9000/");
        assertThat(first.path("link").asString()).startsWith("/sandboxes/default/Web_1/links/9000/");
        assertThat(Instant.parse(first.path("link_expires_at").asString())).isAfter(Instant.now());
        assertThat(TestGateway.text(result))
                .contains("Port 9000: /sandboxes/default/Web_1/ports/9000/")
                .contains(first.path("link").asString())
                .contains("0.0.0.0")
                .contains("in the background of a shell, its output in a file: 'SERVER >server.log 2>&1 &'");
        assertThat(TestGateway.text(result)).contains("\nNo port was opened on a host");
        assertThat(result.path("content").size()).isOne();
        assertThat(result.path("structuredContent").path("message").asString()).isEqualTo(TestGateway.text(result));
        assertThat(result.path("structuredContent").path("warning").asString())
                .startsWith("No port was opened on a host");
    }

    @Test
    void howToLeaveAServerRunningIsSaidWherePortsAndCommandsAre() throws Exception {
        String commands =
                gateway.definition("sandbox_run_command").path("description").asString();

        assertThat(commands).contains("'python3 -m http.server 8000 --bind 0.0.0.0 >server.log 2>&1 &'");
        assertThat(TestGateway.text(startWith("[9000]")))
                .contains("start it with sandbox_run_command in the background of a shell");
    }

    @Test
    void whereThereAreNoLinksNoneIsTold() throws Exception {
        gateway.close();
        gateway = TestGateway.start(ReachedBy.KEYS);

        JsonNode result = startWith("[9000]");

        JsonNode first = result.path("structuredContent").path("ports").path(0);
        assertThat(first.path("url").asString()).isEqualTo("/sandboxes/default/Web_1/ports/9000/");
        assertThat(first.path("link").isNull()).isTrue();
        assertThat(first.path("link_expires_at").isNull()).isTrue();
        assertThat(TestGateway.text(result))
                .contains("Port 9000: /sandboxes/default/Web_1/ports/9000/")
                .doesNotContain("link")
                .doesNotContain("null");
    }

    @Test
    void whereNoPortIsReachedNoneMayBeDeclared() throws Exception {
        gateway.close();
        gateway = TestGateway.start(ReachedBy.NONE);

        JsonNode refused = startWith("[9000]");
        assertThat(refused.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(refused))
                .startsWith("Error: 'config.ports' must be left out: this installation makes no port");
        assertThat(gateway.sandboxes.orders).isEmpty();

        // To take back what is there is no declaration.
        assertThat(startWith("[]").path("isError").asBoolean()).isFalse();
        assertThat(gateway.sandboxes.configs.getFirst().ports()).isEmpty();
    }

    @Test
    void withoutPortsNothingIsSaidOfThem() throws Exception {
        JsonNode result = startWith("[]");

        assertThat(gateway.sandboxes.configs.getFirst().ports()).isEmpty();
        assertThat(result.path("content").size()).isEqualTo(1);
        assertThat(result.path("structuredContent").path("ports").isEmpty()).isTrue();
    }
}
