package dev.sandglass.gateway.contract.sandglass.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.testing.TestGateway;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
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
        assertThat(JsonMapper.shared().readTree(TestGateway.text(result)).path("sandboxes"))
                .isEqualTo(result.path("structuredContent").path("sandboxes"));
        assertThat(TestGateway.text(result).lines()).hasSize(3);
    }

    /** One JSON object, so that programs of microsandbox read it; of several sandboxes the contract's six names alone. */
    @Test
    void theTextOfSeveralHasTheSixFieldsOfTheContract() throws Exception {
        String text = TestGateway.text(gateway.call("sandbox_get_metrics", "{}"));

        assertThat(JsonMapper.shared().readTree(text))
                .isEqualTo(JsonMapper.shared().readTree("""
                {"sandboxes":[
                {"namespace":"default","name":"box","running":true,"cpu_usage":12.5,"memory_usage":100.0,
                 "disk_usage":4096},
                {"namespace":"default","name":"Sleepy","running":false,"cpu_usage":null,"memory_usage":null,
                 "disk_usage":null}]}"""));
    }

    @Test
    void theTextIsBoundedAndSaysHowManyItLeavesOut() throws Exception {
        for (int number = 0; number < 199; number++) {
            gateway.sandboxes.put(new SandboxState.Stopped(
                    new SandboxRef("default", "sandglass-default", "s" + number, "s" + number), "s" + number));
        }

        JsonNode told = JsonMapper.shared().readTree(TestGateway.text(gateway.call("sandbox_get_metrics", "{}")));

        assertThat(told.path("sandboxes").size()).isEqualTo(MetricsText.MOST_SANDBOXES);
        assertThat(told.path("not_shown").asInt()).isEqualTo(201 - MetricsText.MOST_SANDBOXES);
        assertThat(told.has("truncated")).isFalse();
    }

    /** The contract's six come first, under the contract's names. */
    @Test
    void everyFigureOfTheSupervisorIsTold() throws Exception {
        assertThat(sandboxes("{\"sandbox\":\"box\"}").path(0))
                .isEqualTo(JsonMapper.shared().readTree("""
                {"namespace":"default","name":"box","running":true,"cpu_usage":12.5,"memory_usage":100.0,
                "disk_usage":4096,"cpu_seconds":1.25,"cpu_limit":0.5,"memory_limit":512.0,"memory_peak":200.0,
                "oom_kills":2,"disk_limit":2147483648,"uptime":3.5,"pids":7,"pids_limit":256,
                "network_received":5000000000,"network_sent":6,"kernels":3}"""));
    }

    @Test
    void theSchemaDeclaresWhatIsAnswered() throws Exception {
        JsonNode declared = gateway.definition("sandbox_get_metrics").path("outputSchema");
        JsonNode entry = declared.path("properties").path("sandboxes").path("items");
        JsonNode answer = gateway.call("sandbox_get_metrics", "{}").path("structuredContent");

        assertThat(texts(declared.path("required"))).isEqualTo(List.copyOf(answer.propertyNames()));
        for (JsonNode told : answer.path("sandboxes")) {
            assertThat(texts(entry.path("required"))).isEqualTo(List.copyOf(told.propertyNames()));
        }
    }

    private static List<String> texts(JsonNode list) {
        return list.values().stream().map(JsonNode::asString).toList();
    }

    @Test
    void moreSandboxesThanOneAnswerHoldsAreSaidToBeLeftOut() throws Exception {
        for (int number = 2; number < 1000; number++) {
            gateway.sandboxes.addRunning("box" + number);
        }
        assertThat(sandboxes("{}").size()).isEqualTo(1000);
        assertThat(truncated()).isFalse();

        gateway.sandboxes.addRunning("one-more");

        assertThat(sandboxes("{}").size()).isEqualTo(1000);
        assertThat(truncated()).isTrue();
    }

    private boolean truncated() throws Exception {
        return gateway.call("sandbox_get_metrics", "{\"namespace\":\"*\"}")
                .path("structuredContent")
                .path("truncated")
                .asBoolean();
    }

    @Test
    void withoutNameAllOfTheTenantAreToldStoppedOnesToo() throws Exception {
        JsonNode all = sandboxes("{}");

        assertThat(all.values())
                .extracting(usage -> usage.path("name").asString())
                .containsExactly("box", "Sleepy");
        assertThat(all.path(1).path("running").asBoolean()).isFalse();
        assertThat(all.path(1).properties())
                .filteredOn(field -> !List.of("namespace", "name", "running").contains(field.getKey()))
                .hasSize(15)
                .allMatch(field -> field.getValue().isNull());
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

    @Tag("slow")
    @Test
    void aSandboxThatDoesNotAnswerInTimeIsToldAsUnknown() throws Exception {
        stop();
        gateway = TestGateway.hasty();
        gateway.sandboxes.addRunning("box");
        gateway.supervisor.silenceMetrics();

        JsonNode usage = sandboxes("{\"sandbox\":\"box\"}").path(0);

        assertThat(usage.path("running").asBoolean()).isTrue();
        assertThat(usage.path("cpu_usage").isNull()).isTrue();
    }
}
