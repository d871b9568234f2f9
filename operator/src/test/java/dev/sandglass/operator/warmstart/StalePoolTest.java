package dev.sandglass.operator.warmstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.pool.SandboxPoolSpec;
import dev.sandglass.operator.MockedRounds;
import dev.sandglass.operator.pool.Pools;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMixedDispatcher;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.http.Response;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool whose watch of seats shows nothing of what the operator does. */
@Tag("slow")
class StalePoolTest {

    private static final class SilentWatch extends KubernetesMixedDispatcher {

        SilentWatch() {
            super(new HashMap<>());
        }

        @Override
        public MockResponse dispatch(RecordedRequest request) {
            String path = request.getPath();
            boolean ofSeats =
                    path.contains("/pods?") && path.contains("sandglass.dev%2Fpool") && path.contains("watch=true");
            return ofSeats ? new MockResponse().withWebSocketUpgrade(new Silence()) : super.dispatch(request);
        }
    }

    private static final class Silence extends WebSocketListener {

        @Override
        public void onOpen(WebSocket socket, Response response) {}
    }

    @RegisterExtension
    final MockApi api = new MockApi(new SilentWatch());

    private final KubernetesClient client = api.client();

    private List<Pod> seats() {
        return client.pods()
                .inNamespace("tenant-a")
                .withLabel(SandboxLabels.POOL, "warm")
                .list()
                .getItems();
    }

    /** No round comes after that of the deletion, so that a seat that it misses would run on for a month. */
    @Test
    void aSeatThatItsPoolLetGoEndsWithThePoolThoughTheCacheDoesNotShowIt() {
        try (MockedRounds _ = MockedRounds.start(api)) {
            client.resource(Pools.pool("warm", 2)).create();
            await().atMost(MockedRounds.SOON).until(() -> seats().size() == 2);
            String kept = seats().getLast().getMetadata().getName();
            MockedRounds.edit(client.resource(seats().getFirst()), PoolRoundsTest::letGo);

            client.resources(SandboxPool.class)
                    .inNamespace("tenant-a")
                    .withName("warm")
                    .delete();

            await().atMost(MockedRounds.SOON).until(() -> seats().size() == 1);
            // Of one that has an owner, garbage collection sees to it.
            assertThat(seats().getFirst().getMetadata().getName()).isEqualTo(kept);
        }
    }

    @Test
    void noMoreSeatsAreMadeThanWantedThoughTheCacheShowsNone() {
        try (MockedRounds rounds = MockedRounds.start(api)) {
            client.resource(Pools.pool("warm", 2)).create();
            await().atMost(MockedRounds.SOON).until(() -> seats().size() == 2);

            await().during(Duration.ofSeconds(7)).atMost(MockedRounds.SOON).untilAsserted(() -> assertThat(seats())
                    .hasSize(2));

            MockedRounds.edit(
                    client.resources(SandboxPool.class).inNamespace("tenant-a").withName("warm"), pool -> {
                        pool.setSpec(new SandboxPoolSpec(1, null, null));
                        return pool;
                    });
            await().atMost(MockedRounds.SOON).until(() -> seats().size() == 1);
            await().during(Duration.ofSeconds(2)).atMost(MockedRounds.SOON).untilAsserted(() -> assertThat(seats())
                    .hasSize(1));
            assertThat(rounds.isReady()).isTrue();
        }
    }
}
