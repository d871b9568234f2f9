package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What {@code config} of {@code sandbox_start} takes, and what is said of what it does not (contracts.md M6 to M12). */
class StartConfigContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode startWith(String config) throws Exception {
        return gateway.call("sandbox_start", "{\"sandbox\":\"a\",\"config\":%s}".formatted(config));
    }

    @Test
    void anUnknownFieldIsAnsweredWithThoseOfTheSchemaAndNoOthers() throws Exception {
        JsonNode offered = gateway.definition("sandbox_start").at("/inputSchema/properties/config/properties");

        JsonNode result = startWith("{\"imge\":\"x\"}");

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result))
                .isEqualTo("Error: 'config.imge' is not known (did you mean 'image'?); known are "
                        + String.join(", ", new TreeSet<>(offered.propertyNames())));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "workdir | give 'cwd' to sandbox_run_command, or change the folder in the code",
                "shell | sandbox_run_command gives a command line to bash, or to sh in an image without it; for another shell name it in 'command'",
                "scripts | write them with sandbox_write_file and run them with sandbox_run_command",
                "exec | run it with sandbox_run_command after the start",
                "depends_on | call sandbox_start for the other sandbox first",
            })
    void settingsOfOtherSystemsAreToldWhatToDoInstead(String field, String instead) throws Exception {
        JsonNode result = startWith("{\"%s\":\"x\"}".formatted(field));

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result))
                .isEqualTo("Error: 'config.%s' is no setting of Sandglass; leave it out: %s".formatted(field, instead));
        assertThat(gateway.sandboxes.configs).isEmpty();
    }

    /** Null counts as absent. */
    @Test
    void aSettingOfAnotherSystemThatIsNullDoesNoHarm() throws Exception {
        assertThat(startWith("{\"scripts\":null,\"shell\":null}")
                        .path("isError")
                        .asBoolean())
                .isFalse();
        assertThat(gateway.sandboxes.configs).containsExactly(SandboxConfig.UNCHANGED);
    }

    /** The cluster's words name the resource's field, and of the image a pattern alone. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'image':'a b' | 'config.image' must be the name of an image without blanks, such as"
                        + " 'microsandbox/python'; leave it out for the installation's default",
                "'image':' a' | 'config.image' must be the name of an image without blanks, such as"
                        + " 'microsandbox/python'; leave it out for the installation's default",
                "'runtime_class':'Nope!' | 'config.runtime_class': 'Nope!' is not the name of an object of Kubernetes:"
                        + " lower-case letters, digits, hyphens and dots, at most 253",
            })
    void namesThatTheClusterWouldRefuseAreToldInTheFieldsOfTheTool(String config, String error) throws Exception {
        JsonNode result = startWith("{%s}".formatted(config.replace('\'', '"')));

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).isEqualTo("Error: " + error);
        assertThat(gateway.sandboxes.configs).isEmpty();
    }

    /** The resource counts bytes where this counts MiB: its own words led to a million times as much. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'memory':1 | 'config.memory' must be between 64Mi and 1Ti, and 1Mi is not (a plain number means MiB)",
                "'memory':'63' | 'config.memory' must be between 64Mi and 1Ti, and 63Mi is not (a plain number means MiB)",
                "'memory':134217728 | 'config.memory' must be between 64Mi and 1Ti, and 134217728Mi is not (a plain number"
                        + " means MiB)",
                "'disk':'500m' | 'config.disk' must be between 64Mi and 10Ti, and 500m is not (a plain number means MiB)",
                "'disk':'11Ti' | 'config.disk' must be between 64Mi and 10Ti, and 11Ti is not (a plain number means MiB)",
                "'workspace':5 | 'config.workspace' must be between 64Mi and 10Ti, and 5Mi is not (a plain number means"
                        + " MiB)",
                "'workspace':{'size':5} | 'config.workspace.size' must be between 64Mi and 10Ti, and 5Mi is not (a plain"
                        + " number means MiB)",
                "'cpus':0.01 | 'config.cpus' must be between 50m and 256, and 0.01 is not",
                "'cpus':'1k' | 'config.cpus' must be between 50m and 256, and 1k is not",
            })
    void whatIsTooMuchOrTooLittleIsToldInTheUnitsOfTheTool(String config, String error) throws Exception {
        JsonNode result = startWith("{%s}".formatted(config.replace('\'', '"')));

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).isEqualTo("Error: " + error);
        assertThat(gateway.sandboxes.configs).isEmpty();
    }

    @Test
    void theBoundsThemselvesAreTaken() throws Exception {
        startWith("{\"memory\":64,\"cpus\":\"50m\",\"disk\":\"10Ti\",\"workspace\":\"10Ti\"}");

        assertThat(gateway.sandboxes.configs.getFirst().memory()).isEqualTo("64Mi");
    }

    @Test
    void retentionSaysWhatItSpares() throws Exception {
        assertThat(gateway.definition("sandbox_start")
                        .at("/inputSchema/properties/config/properties/retention/description")
                        .asString())
                .contains("stopped for so long");
    }
}
