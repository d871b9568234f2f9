package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.toolserver.Servers;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** An administrator may have left out the definition of tool servers; sandboxes are looked after all the same. */
@EnableKubernetesMockClient(crud = true)
class MissingKindTest {

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesClient client;

    // Set by the extension before each test.
    @SuppressWarnings("NullAway.Init")
    KubernetesMockServer server;

    @Test
    void sandboxesAreLookedAfterAndToolServersAreNotWatched() {
        client.resource(Servers.stdio()).create();
        try (MockedRounds rounds = MockedRounds.startWithoutToolServers(server, client)) {
            assertThat(rounds.running().observed().holds(ConditionType.READY)).isTrue();

            await().during(Duration.ofSeconds(1)).atMost(MockedRounds.SOON).untilAsserted(() -> assertThat(
                            client.resources(Sandbox.class)
                                    .inNamespace("tenant-a")
                                    .withName("time-mcp")
                                    .get())
                    .isNull());
        }
    }

    @Test
    void aSandboxThatPassesForAToolServersGetsNoPod() {
        try (MockedRounds rounds = MockedRounds.startWithoutToolServers(server, client)) {
            Sandbox child =
                    client.resource(ToolServerChild.desired(Servers.stdio())).create();

            assertThat(rounds.told(child, ConditionType.READY, "False")
                            .observed()
                            .condition(ConditionType.READY)
                            .orElseThrow()
                            .getMessage())
                    .contains("No SandboxToolServer time owns this Sandbox");
            assertThat(client.pods().inNamespace("tenant-a").list().getItems()).isEmpty();
        }
    }
}
