package dev.sandglass.operator;

import static dev.sandglass.api.toolserver.ToolServerCondition.ACCEPTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.toolserver.Servers;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tool servers where tenants come by label. */
class ToolServerTenantsTest {

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    @SuppressWarnings("NullAway.Init")
    private MockedRounds rounds;

    @BeforeEach
    void start() {
        rounds = MockedRounds.start(
                api, Map.of("OPERATOR_NAMESPACES", "none-by-name", "OPERATOR_TENANTS_BY_LABEL", "true"));
    }

    @AfterEach
    void stop() {
        rounds.close();
    }

    @Test
    void inANamespaceThatIsNoTenantsNothingIsMadeUntilItIs() {
        Namespace labelled = new NamespaceBuilder()
                .withNewMetadata()
                .withName("tenant-a")
                .addToLabels(SandboxLabels.TENANT, "a")
                .endMetadata()
                .build();
        client.resource(Servers.stdio()).create();
        await().during(Duration.ofSeconds(1)).atMost(MockedRounds.SOON).untilAsserted(() -> assertThat(
                        client.resources(Sandbox.class)
                                .inNamespace("tenant-a")
                                .withName("time-mcp")
                                .get())
                .isNull());

        client.resource(labelled).create();

        await().atMost(MockedRounds.SOON)
                .until(() -> client.resource(Servers.stdio()).get().observed().holds(ACCEPTED));
    }
}
