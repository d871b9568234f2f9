package dev.sandglass.gateway.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code sandbox_get_metrics}: the rows M22, M23 and M25 of the contracts. */
class MetricsContractTest {

    private TestGateway gateway;

    @BeforeEach
    void start() {
        gateway = TestGateway.start();
        gateway.sandboxes.addRunning("box");
        gateway.sandboxes.put(new SandboxState.Stopped(
                new SandboxRef("default", "sandglass-default", "sleepy-x0123456789", "Sleepy"), "u2"));
        gateway.sandboxes.put(
                new SandboxState.Stopped(new SandboxRef("other", "sandglass-other", "foreign", "foreign"), "u3"));
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private JsonNode sandboxes(String arguments) throws Exception {
        return gateway.call("sandbox_get_metrics", arguments)
                .path("structuredContent")
                .path("sandboxes");
    }

    @Test
    void oneSandboxHasTheFieldsOfTheContractAndMore() throws Exception {
        JsonNode result = gateway.call("sandbox_get_metrics", "{\"sandbox\":\"box\",\"namespace\":\"default\"}");

        JsonNode usage = result.path("structuredContent").path("sandboxes").path(0);
        assertThat(usage.path("namespace").asString()).isEqualTo("default");
        assertThat(usage.path("name").asString()).isEqualTo("box");
        assertThat(usage.path("running").asBoolean()).isTrue();
        assertThat(usage.path("cpu_usage").asDouble()).isEqualTo(12.5);
        assertThat(usage.path("memory_usage").asDouble()).isEqualTo(100);
        assertThat(usage.path("memory_limit").asDouble()).isEqualTo(512);
        assertThat(usage.path("disk_usage").asLong()).isEqualTo(4096);
        assertThat(usage.path("pids").asInt()).isEqualTo(7);
        assertThat(usage.path("uptime").asDouble()).isEqualTo(3.5);
        assertThat(usage.has("memory_peak")).isTrue();
        assertThat(JsonMapper.shared().readTree(TestGateway.text(result))).isEqualTo(result.path("structuredContent"));
        assertThat(TestGateway.text(result)).contains("\n");
    }

    @Test
    void withoutNameAllOfTheTenantAreToldStoppedOnesToo() throws Exception {
        JsonNode all = sandboxes("{}");

        assertThat(all.values())
                .extracting(usage -> usage.path("name").asString())
                .containsExactly("box", "Sleepy");
        assertThat(all.path(1).path("running").asBoolean()).isFalse();
        assertThat(all.path(1).path("memory_usage").isNull()).isTrue();
    }

    @Test
    void theWildcardIsCutToWhatTheCallerMaySee() throws Exception {
        assertThat(sandboxes("{\"namespace\":\"*\"}").values())
                .extracting(usage -> usage.path("namespace").asString())
                .containsOnly("default");
        JsonNode bobs = gateway.call(TestGateway.OTHER_KEY, "sandbox_get_metrics", "{\"namespace\":\"*\"}");
        assertThat(bobs.path("structuredContent").path("sandboxes").values())
                .extracting(usage -> usage.path("name").asString())
                .containsExactly("foreign");
    }

    @Test
    void aSandboxThatDoesNotAnswerInTimeIsToldAsUnknown() throws Exception {
        gateway.supervisor.silenceMetrics();

        JsonNode usage = sandboxes("{\"sandbox\":\"box\"}").path(0);

        assertThat(usage.path("running").asBoolean()).isTrue();
        assertThat(usage.path("cpu_usage").isNull()).isTrue();
    }
}
