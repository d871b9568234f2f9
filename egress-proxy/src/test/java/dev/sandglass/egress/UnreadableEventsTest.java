package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.egress.client.SandboxClients;
import dev.sandglass.testing.UnreadableApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The proxy goes on watching whatever the API server sends. */
class UnreadableEventsTest {

    private static final Duration SOON = Duration.ofSeconds(20);

    @Tag("slow")
    @Test
    void textBeyondAsciiAndAnUnreadableEventEndNoWatch() throws Exception {
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        try (UnreadableApi api = new UnreadableApi();
                KubernetesClient client = client(api, metrics);
                SandboxClients clients =
                        new SandboxClients(client, List.of(UnreadableApi.NAMESPACE), false, DefaultDomains.NONE)) {
            clients.start();
            await().atMost(SOON).until(() -> clients.knows(UnreadableApi.uid("two")));
            assertThat(clients.knows(UnreadableApi.uid("one"))).isTrue();
            assertThat(api.lists()).isEqualTo(1);

            api.sendTheUnreadable();

            await().atMost(SOON).until(() -> clients.knows(UnreadableApi.uid("three")));
            assertThat(metrics.get("sandglass.api.unreadable")
                            .tag("what", "event")
                            .functionCounter()
                            .count())
                    .isEqualTo(1);
        }
    }

    private static KubernetesClient client(UnreadableApi api, SimpleMeterRegistry metrics) {
        System.setProperty("kubernetes.master", api.url());
        try {
            return EgressMain.client(metrics);
        } finally {
            System.clearProperty("kubernetes.master");
        }
    }
}
