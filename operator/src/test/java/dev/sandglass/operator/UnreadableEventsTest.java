package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.operator.metrics.UnreadableMeter;
import dev.sandglass.testing.UnreadableApi;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The operator goes on watching whatever the API server sends, and does not end. */
@Tag("slow")
class UnreadableEventsTest {

    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void textBeyondAsciiAndAnUnreadableEventEndNoOperator() throws Exception {
        PrometheusMeterRegistry metrics = OperatorMain.registry();
        List<String> ends = new CopyOnWriteArrayList<>();
        try (UnreadableApi api = new UnreadableApi();
                KubernetesClient client = client(api, metrics);
                RunningOperator operator = new RunningOperator(settings(), secrets(), client, metrics, ends::add)) {
            operator.start();
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(sandboxes(metrics)).isEqualTo(2));
            assertThat(api.lists()).isEqualTo(1);

            api.sendTheUnreadable();

            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(sandboxes(metrics)).isEqualTo(1));
            assertThat(metrics.get(UnreadableMeter.NAME)
                            .tag("what", "event")
                            .functionCounter()
                            .count())
                    .isEqualTo(1);
            assertThat(ends).as("reasons to end the process").isEmpty();
        }
    }

    private static double sandboxes(PrometheusMeterRegistry metrics) {
        return metrics.find("sandglass.sandboxes").gauges().stream()
                .mapToDouble(gauge -> gauge.value())
                .sum();
    }

    private static KubernetesClient client(UnreadableApi api, PrometheusMeterRegistry metrics) {
        System.setProperty("kubernetes.master", api.url());
        try {
            return OperatorMain.client(metrics);
        } finally {
            System.clearProperty("kubernetes.master");
        }
    }

    private static OperatorSettings settings() {
        return OperatorSettings.of(Map.of(
                "OPERATOR_NAMESPACES", UnreadableApi.NAMESPACE,
                "OPERATOR_DEFAULT_IMAGE", "registry.example.com/sandglass/kernel:1",
                "OPERATOR_LINK_SECRET_FILE", "unused",
                "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system"));
    }

    private static Secrets secrets() {
        byte[] bytes = "a link secret for this test only, of no use".getBytes(StandardCharsets.US_ASCII);
        return new Secrets(new LinkSecret(bytes), Optional.empty());
    }
}
