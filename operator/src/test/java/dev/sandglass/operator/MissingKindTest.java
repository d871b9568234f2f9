package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.toolserver.Servers;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An administrator may have left out the definition of tool servers; sandboxes are looked after all the same. */
class MissingKindTest {

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    @Tag("slow")
    @Test
    void sandboxesAreLookedAfterAndToolServersAreNotWatched() {
        client.resource(Servers.stdio()).create();
        try (MockedRounds rounds = MockedRounds.startWithoutToolServers(api)) {
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
        try (MockedRounds rounds = MockedRounds.startWithoutToolServers(api)) {
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
