package dev.sandglass.operator.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerStatus;
import dev.sandglass.operator.toolserver.Servers;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ToolServerCensusTest {

    private static SandboxToolServer ready(String status, String reason) {
        SandboxToolServer server = Servers.stdio();
        server.setStatus(new SandboxToolServerStatus(
                1L,
                List.of(new ConditionBuilder()
                        .withType("Ready")
                        .withStatus(status)
                        .withReason(reason)
                        .build()),
                null));
        return server;
    }

    @Test
    void toolServersAreCountedByNamespaceAndReasonAndOneThatSleepsIsReady() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        ToolServerCensus.of(
                        () -> Stream.of(
                                ready("True", "Idle"),
                                ready("True", "Idle"),
                                ready("False", "NameTaken"),
                                ready("False", "OfALaterVersion"),
                                Servers.stdio()),
                        () -> 0)
                .bindTo(registry, Set.of("tenant-a", "tenant-b"));

        assertThat(registry.scrape())
                .contains("sandglass_tool_servers{ready=\"true\",reason=\"Idle\",sandbox_namespace=\"tenant-a\"} 2.0")
                .contains(
                        "sandglass_tool_servers{ready=\"false\",reason=\"NameTaken\",sandbox_namespace=\"tenant-a\"} 1.0")
                .contains(
                        "sandglass_tool_servers{ready=\"false\",reason=\"Unseen\",sandbox_namespace=\"tenant-a\"} 2.0")
                .contains("sandglass_tool_servers{ready=\"true\",reason=\"Idle\",sandbox_namespace=\"tenant-b\"} 0.0")
                .doesNotContain("SandboxMade", "PoliciesApplied", "Verified", "EndpointUnavailable");
    }
}
