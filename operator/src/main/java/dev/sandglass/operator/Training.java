package dev.sandglass.operator;

import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.operator.metrics.ApiMeter;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * One sandbox's start against a stand-in for the API server, so that the virtual machine sees the code that a start
 * needs and can store it in the image's AOT cache. It ends by itself, and fails if the start does.
 */
final class Training {

    private static final Duration AT_MOST = Duration.ofSeconds(30);

    private Training() {}

    static void run() throws IOException {
        OperatorSettings settings = OperatorSettings.of(Map.of(
                "OPERATOR_NAMESPACES", TrainingServer.NAMESPACE,
                "OPERATOR_DEFAULT_IMAGE", "registry.example.com/sandglass/kernel:1",
                "OPERATOR_LINK_SECRET_FILE", "unused",
                "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system",
                "EGRESS_SERVICE", TrainingServer.EGRESS_SERVICE,
                "EGRESS_SECRET_FILE", "unused"));
        PrometheusMeterRegistry metrics = OperatorMain.registry();
        try (TrainingServer server = new TrainingServer();
                KubernetesClient client = client(server.url(), metrics);
                RunningOperator operator = new RunningOperator(settings, secrets(), client, metrics, Training::fail);
                Probes probes = new Probes(0, () -> true, metrics)) {
            operator.start();
            server.awaitStatus(AT_MOST);
            scrape(probes.port());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Training was interrupted", e);
        }
    }

    private static KubernetesClient client(String url, PrometheusMeterRegistry metrics) {
        Config config = new ConfigBuilder(Config.empty()).withMasterUrl(url).build();
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientBuilderConsumer(
                        builder -> builder.addOrReplaceInterceptor("sandglass-meter", new ApiMeter(metrics)))
                .build();
    }

    private static void fail(String reason) {
        throw new IllegalStateException(reason);
    }

    private static Secrets secrets() {
        byte[] bytes = "nothing but training is done with this".getBytes(StandardCharsets.US_ASCII);
        return new Secrets(new LinkSecret(bytes), Optional.of(new EgressSecret(bytes)));
    }

    private static void scrape(int port) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            for (String path : new String[] {"livez", "readyz", "metrics"}) {
                URI uri = URI.create("http://127.0.0.1:" + port + "/" + path);
                int code = http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                        .statusCode();
                if (code != 200) {
                    throw new IOException(uri + " answered " + code);
                }
            }
        }
    }
}
