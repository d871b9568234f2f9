package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.contract.FencedText;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** How long a sandbox lives: what a start may say of it, and what a call is told that finds it suspended. */
class LifetimeContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode start(String config) throws Exception {
        return gateway.call("sandbox_start", "{\"sandbox\":\"a\",\"config\":%s}".formatted(config.replace('\'', '"')));
    }

    @ParameterizedTest
    @CsvSource({"0, 30", "0.5, 30.5", "864000, 864030", "1e300, 864030", "-5, 30", "'\"soon\"', 30"})
    void aSandboxIsInUseUntilTheTurnOfWhatWaitsAndForItsTime(String waits, double busy) throws Exception {
        gateway.sandboxes.addRunning("a");
        gateway.supervisor.queue(waits);

        gateway.call("sandbox_run_code", "{\"sandbox\":\"a\",\"code\":\"1\",\"timeout\":30,\"background\":true}");

        assertThat(gateway.sandboxes.busy.getLast()).isEqualTo(Duration.ofMillis(Math.round(busy * 1000)));
    }

    @Test
    void startPassesDeadlinesAndRuntimeClassOn() throws Exception {
        start("{'idle_timeout':'5m','max_lifetime':3600,'retention':'8760h','runtime_class':'gvisor'}");
        start("{'idle_timeout':null,'max_lifetime':'','runtime_class':''}");

        assertThat(gateway.sandboxes.configs)
                .containsExactly(
                        new SandboxConfig(
                                null, null, null, null, null, null, null, "gvisor", "5m", "3600s", "8760h", null, null),
                        SandboxConfig.UNCHANGED);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "{'idle_timeout':'soon'} | 'config.idle_timeout' must be a duration from 10s to 720h in hours, minutes and"
                        + " seconds, such as 30m, 8h or 1h30m, or a whole number of seconds",
                "{'idle_timeout':9} | 'config.idle_timeout' must be a duration from 10s",
                "{'idle_timeout':1.5} | 'config.idle_timeout' must be a duration from 10s",
                "{'idle_timeout':['5m']} | 'config.idle_timeout' must be a duration from 10s",
                "{'max_lifetime':'720h1s'} | 'config.max_lifetime' must be a duration from 10s to 720h",
                "{'max_lifetime':-3600} | 'config.max_lifetime' must be a duration from 10s to 720h",
                "{'retention':'8761h'} | 'config.retention' must be a duration from 10s to 8760h",
                "{'retention':99999999999999999999} | 'config.retention' must be a duration from 10s to 8760h",
                "{'runtime_class':true} | 'config.runtime_class' must be a text",
            })
    void whatIsWrongIsNamedWithItsRule(String config, String error) throws Exception {
        JsonNode result = start(config);

        assertThat(result.path("isError").asBoolean()).isTrue();
        assertThat(TestGateway.text(result)).startsWith("Error: " + error);
        assertThat(gateway.sandboxes.configs).isEmpty();
    }

    @Test
    void aNameOfARuntimeClassHasALargestLength() throws Exception {
        start("{'runtime_class':'%s'}".formatted("a".repeat(253)));
        JsonNode tooLong = start("{'runtime_class':'%s'}".formatted("a".repeat(254)));

        assertThat(gateway.sandboxes.configs).hasSize(1);
        assertThat(TestGateway.text(tooLong))
                .isEqualTo("Error: 'config.runtime_class' must have at most 253 characters, has 254");
    }

    @ParameterizedTest
    @CsvSource({
        "Idle, suspended because nobody used it",
        "MaxLifetime, suspended because it reached its maximum lifetime",
        "Later, suspended (Later)",
    })
    void theCallThatBringsASandboxBackIsToldWhyItWasGoneAndWhatIsLost(String reason, String why) throws Exception {
        var ref = new SandboxRef("default", "sandglass-default", "s", "s");
        String notice = "The sandbox was " + why + ", and was resumed for this call: variables of earlier calls were"
                + " lost, so were files outside a persistent workspace.";
        gateway.sandboxes.put(new SandboxState.Asleep(ref, "u", reason));
        JsonNode ran = gateway.call("sandbox_run_code", "{\"sandbox\":\"s\",\"code\":\"print hi\"}");
        gateway.sandboxes.put(new SandboxState.Asleep(ref, "u", reason));
        JsonNode listed = gateway.call("sandbox_list_files", "{\"sandbox\":\"s\"}");
        JsonNode next = gateway.call("sandbox_run_code", "{\"sandbox\":\"s\",\"code\":\"print hi\"}");

        assertThat(TestGateway.text(ran)).isEqualTo("hi\n" + FencedText.FENCE + "\n" + notice);
        assertThat(ran.path("structuredContent").path("message").asString()).isEqualTo(notice);
        assertThat(ran.path("structuredContent").path("kernel_restarted").asBoolean())
                .isTrue();
        assertThat(TestGateway.text(listed)).endsWith("\n" + FencedText.FENCE + "\n" + notice);
        assertThat(listed.path("content").size()).isOne();
        assertThat(listed.path("structuredContent").path("warning").asString()).isEqualTo(notice);
        assertThat(TestGateway.text(next)).isEqualTo("hi");
        assertThat(next.path("structuredContent").path("kernel_restarted").asBoolean())
                .isFalse();
        assertThat(gateway.sandboxes.orders).containsExactly("resume s", "resume s");
    }
}
