package dev.sandglass.operator.warmstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.MockedRounds;
import dev.sandglass.operator.pool.Pools;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pools where tenants come by label. */
class PoolTenantsTest {

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

    private List<Pod> pods() {
        return client.pods().inNamespace("tenant-a").list().getItems();
    }

    @Tag("slow")
    @Test
    void inANamespaceThatIsNoTenantsThereAreNoSeatsUntilItIs() {
        Namespace labelled = new NamespaceBuilder()
                .withNewMetadata()
                .withName("tenant-a")
                .addToLabels(SandboxLabels.TENANT, "a")
                .endMetadata()
                .build();
        client.resource(Pools.pool("warm", 1)).create();
        await().during(Duration.ofSeconds(1)).atMost(MockedRounds.SOON).untilAsserted(() -> assertThat(pods())
                .isEmpty());

        client.resource(labelled).create();

        await().atMost(MockedRounds.SOON).until(() -> pods().size() == 1);
    }
}
