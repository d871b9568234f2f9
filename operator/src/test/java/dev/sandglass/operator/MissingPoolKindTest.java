package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.operator.pool.Pools;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An administrator may have left out the definition of pools; sandboxes are looked after all the same. */
@Tag("slow")
class MissingPoolKindTest {

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    @Test
    void sandboxesAreLookedAfterAndPoolsAreNotWatched() {
        client.resource(Pools.pool("warm", 1)).create();
        try (MockedRounds rounds = MockedRounds.startWithoutToolServers(api)) {
            assertThat(rounds.running().observed().holds(ConditionType.READY)).isTrue();

            await().during(Duration.ofSeconds(1)).atMost(MockedRounds.SOON).untilAsserted(() -> assertThat(
                            client.pods().inNamespace("tenant-a").list().getItems())
                    .hasSize(1));
        }
    }
}
