package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.watch.ReadableSerialization;
import dev.sandglass.gateway.kubernetes.KubernetesSandboxes;
import dev.sandglass.gateway.kubernetes.KubernetesSettings;
import dev.sandglass.testing.UnreadableApi;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The gateway goes on watching whatever the API server sends. */
@Tag("slow")
class UnreadableEventsTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(30), Duration.ofSeconds(5), Duration.ofSeconds(5));

    @Test
    void textBeyondAsciiAndAnUnreadableEventEndNoWatch() throws Exception {
        SimpleMeterRegistry metrics = new SimpleMeterRegistry();
        SandboxConfiguration configuration = new SandboxConfiguration();
        ReadableSerialization serialization = configuration.kubernetesSerialization();
        configuration.unreadableMeters(serialization).bindTo(metrics);
        try (UnreadableApi api = new UnreadableApi();
                KubernetesClient client = SandboxConfiguration.client(config(api), serialization);
                KubernetesSandboxes sandboxes = new KubernetesSandboxes(
                        client, List.of(UnreadableApi.NAMESPACE), SETTINGS, DefaultDomains.NONE, Clock.systemUTC())) {
            sandboxes.start();
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(names(sandboxes)).containsExactly("one", "two"));
            assertThat(api.lists()).isEqualTo(1);

            api.sendTheUnreadable();

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(names(sandboxes)).containsExactly("three"));
            assertThat(metrics.get("sandglass.api.unreadable")
                            .tag("what", "event")
                            .functionCounter()
                            .count())
                    .isEqualTo(1);
        }
    }

    private static List<String> names(KubernetesSandboxes sandboxes) {
        return sandboxes.list("default", UnreadableApi.NAMESPACE).stream()
                .map(one -> one.ref().name())
                .toList();
    }

    private static Config config(UnreadableApi api) {
        Config config = Config.empty();
        config.setMasterUrl(api.url());
        return SETTINGS.applyTo(config);
    }
}
