package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class ProbesTest {

    @Test
    void liveAtOnceReadyWithItsCachesAndMeasured() throws Exception {
        AtomicBoolean ready = new AtomicBoolean();
        try (HttpClient http = HttpClient.newHttpClient();
                Probes probes = new Probes(0, ready::get, OperatorMain.registry())) {
            assertThat(get(http, probes, "/livez").statusCode()).isEqualTo(200);
            assertThat(get(http, probes, "/readyz").statusCode()).isEqualTo(503);
            ready.set(true);
            assertThat(get(http, probes, "/readyz").statusCode()).isEqualTo(200);
            assertThat(get(http, probes, "/metrics").body()).contains("jvm_memory_used_bytes");
        }
    }

    private static HttpResponse<String> get(HttpClient http, Probes probes, String path)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + probes.port() + path);
        return http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString());
    }
}
