package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ProbesTest {

    private static String ask(HttpClient client, Probes probes, String path) throws IOException, InterruptedException {
        URI place = URI.create("http://127.0.0.1:" + probes.port() + path);
        HttpResponse<String> answer =
                client.send(HttpRequest.newBuilder(place).build(), HttpResponse.BodyHandlers.ofString());
        return answer.statusCode() + " " + answer.body();
    }

    @Test
    void aReplicaIsReadyOnceNothingIsInTheWayAndAliveBefore() throws Exception {
        AtomicReference<Optional<String>> obstacle = new AtomicReference<>(Optional.of("caches are not filled"));
        try (HttpClient client = HttpClient.newHttpClient();
                Probes probes = new Probes(0, obstacle::get, new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))) {
            assertThat(ask(client, probes, "/readyz")).isEqualTo("503 caches are not filled\n");
            assertThat(ask(client, probes, "/livez")).isEqualTo("200 ok\n");
            obstacle.set(Optional.empty());
            assertThat(ask(client, probes, "/readyz")).isEqualTo("200 ok\n");
        }
    }
}
