package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ProbesTest {

    private static int status(HttpClient client, Probes probes, String path) throws IOException, InterruptedException {
        URI place = URI.create("http://127.0.0.1:" + probes.port() + path);
        return client.send(HttpRequest.newBuilder(place).build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }

    @Test
    void aReplicaIsReadyOnceItKnowsTheSandboxesAndAliveBefore() throws Exception {
        AtomicBoolean synced = new AtomicBoolean();
        try (HttpClient client = HttpClient.newHttpClient();
                Probes probes = new Probes(0, synced::get, new PrometheusMeterRegistry(PrometheusConfig.DEFAULT))) {
            assertThat(status(client, probes, "/readyz")).isEqualTo(503);
            assertThat(status(client, probes, "/livez")).isEqualTo(200);
            synced.set(true);
            assertThat(status(client, probes, "/readyz")).isEqualTo(200);
        }
    }
}
