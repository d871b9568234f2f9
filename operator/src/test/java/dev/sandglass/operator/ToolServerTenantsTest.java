package dev.sandglass.operator;

import static dev.sandglass.api.toolserver.ToolServerCondition.ACCEPTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.toolserver.Servers;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tool servers where tenants come by label. */
@EnableKubernetesMockClient(crud = true)
class ToolServerTenantsTest {

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesClient client;

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesMockServer server;

    @SuppressWarnings("NullAway.Init")
    private MockedRounds rounds;

    @BeforeEach
    void start() {
        rounds = MockedRounds.start(
                server, client, Map.of("OPERATOR_NAMESPACES", "none-by-name", "OPERATOR_TENANTS_BY_LABEL", "true"));
    }

    @AfterEach
    void stop() {
        rounds.close();
        // The stand-in waited for the connections of its watches once, and gave up.
        client.close();
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
