package dev.sandglass.gateway.contract.sandglass;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.link.frame.Verb;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Numbers as clients write them: JSON knows no integers, and some languages write 5.0. */
class NumbersContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode startWith(String config) throws Exception {
        return gateway.call("sandbox_start", "{\"sandbox\":\"a\",\"config\":%s}".formatted(config));
    }

    private JsonNode read(String offset) throws Exception {
        return gateway.call(
                "sandbox_get_execution",
                "{\"execution_id\":\"default.uid-box.1.abcdefghijklmnop\",\"offset\":%s}".formatted(offset));
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "2.0", "2e0", "0.2e1", "20E-1"})
    void aNumberWithoutFractionIsWholeHoweverItIsWritten(String two) throws Exception {
        assertThat(TestGateway.text(read(two))).isEqualTo("llo");
        assertThat(gateway.supervisor.verbs)
                .singleElement()
                .isInstanceOfSatisfying(
                        Verb.Attach.class, attach -> assertThat(attach.from()).isEqualTo(2));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2.5",
                "-1.0",
                "1e-9",
                "1e999",
                "-1e999",
                "9223372036854775808",
                "9223372036854775808.0",
                "1e40",
                "\"2 \"",
                "true",
                "[2]"
            })
    void anyOtherIsNone(String offset) throws Exception {
        assertThat(TestGateway.text(read(offset)))
                .isEqualTo("Error: 'offset' must be a whole number from 0 to 9223372036854775807");
        assertThat(gateway.supervisor.verbs).isEmpty();
    }

    @Test
    void sizesPortsAndTimesAreTakenWithAFractionOfZero() throws Exception {
        startWith(
                "{\"memory\":1024.0,\"disk\":2e3,\"workspace\":5120.0,\"ports\":[8000.0,8.001e3],\"idle_timeout\":6e2}");

        var config = gateway.sandboxes.configs.getFirst();
        assertThat(config.memory()).isEqualTo("1024Mi");
        assertThat(config.disk()).isEqualTo("2000Mi");
        assertThat(Objects.requireNonNull(config.workspace()).size()).hasToString("5120Mi");
        assertThat(config.ports()).extracting("port").containsExactly(8000, 8001);
        assertThat(config.idleTimeout()).isEqualTo("600s");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'memory':1e999 | 'config.memory' must be a number of MiB",
                "'disk':1e999 | 'config.disk' must be a number of MiB",
                "'workspace':1e999 | 'config.workspace' must be a number of MiB",
                "'workspace':{'size':1e999} | 'config.workspace.size' must be a number of MiB",
                "'cpus':-1e999 | 'config.cpus' must be a number greater than 0",
                "'cpus':1e-999 | 'config.cpus' must be a number greater than 0",
                "'ports':[1e999] | 'config.ports[0]' must be a port of the sandbox",
                "'ports':[4294975296.0] | 'config.ports[0]' must be a port of the sandbox",
                "'ports':[8000.5] | 'config.ports[0]' must be a port of the sandbox",
                "'ports':[8000,8000.0] | 'config.ports[1]' names port 8000 a second time",
                "'idle_timeout':1e999 | 'config.idle_timeout' must be a duration",
                "'idle_timeout':60.5 | 'config.idle_timeout' must be a duration",
            })
    void aNumberWithoutEndIsRefusedByTheNameOfItsField(String config, String error) throws Exception {
        JsonNode result = startWith("{%s}".formatted(config.replace('\'', '"')));

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).startsWith("Error: " + error);
        assertThat(gateway.sandboxes.configs).isEmpty();
    }
}
