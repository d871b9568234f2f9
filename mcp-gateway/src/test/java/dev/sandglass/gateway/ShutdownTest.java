package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.SandboxStatus;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.link.call.DrainableCalls;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.testing.FakeSupervisor;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** The end of a replica, as at a rolling update: soon, with an answer for every caller, and without harm to what runs. */
class ShutdownTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String HANG = """
            {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sandbox_run_code",\
            "arguments":{"sandbox":"box","code":"hang"}%s}}""";

    @RegisterExtension
    final MockApi server = new MockApi();

    private final FakeSupervisor supervisor = new FakeSupervisor();
    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void callsUnderWayAreAnsweredAndWhatTheyRunGoesOn(@TempDir Path folder) throws Exception {
        KubernetesClient client = server.client();
        ConfigurableApplicationContext app = start(folder, client);
        addRunningSandbox(client);
        await().atMost(SOON).until(() -> !app.getBean(Sandboxes.class)
                .list("default", "sandglass-default")
                .isEmpty());
        var plain = http.sendAsync(request(app, HANG.formatted("")), HttpResponse.BodyHandlers.ofString());
        var stream = http.sendAsync(
                request(app, HANG.formatted(",\"_meta\":{\"progressToken\":1}")), HttpResponse.BodyHandlers.ofString());
        await().atMost(SOON).until(() -> supervisor.verbs.size() == 2);

        var ofPods = app.getBean(DrainableCalls.class);
        assertThat(ofPods.kinds()).contains("tool_call");

        long begin = System.nanoTime();
        app.close();

        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(20));
        assertThat(plain.get().body()).contains("[running]", "Read on: ");
        assertThat(stream.get().body()).contains("[running]", "Read on: ");
        assertThat(supervisor.interrupted()).isEmpty();
        assertThat(ofPods.kinds()).as("calls that pods may make").isEmpty();
    }

    private ConfigurableApplicationContext start(Path folder, KubernetesClient client) throws Exception {
        Path secret = Files.writeString(folder.resolve("secret"), "0123456789abcdef0123456789abcdef");
        var application = new SpringApplicationBuilder(GatewayApplication.class)
                .initializers((GenericApplicationContext context) -> {
                    context.registerBean(
                            "fakeLinks", LinkClient.class, () -> supervisor, bean -> bean.setPrimary(true));
                    // The mock server knows watches over WebSocket alone, which ours are not.
                    context.registerBean(
                            "mockApi", KubernetesClient.class, () -> client, bean -> bean.setPrimary(true));
                });
        return WholeGateway.start(
                application,
                WholeGateway.NO_CLUSTER,
                "--server.port=0",
                "--management.server.port=0",
                "--gateway.unauthenticated=true",
                "--gateway.link.secret-file=" + secret);
    }

    private static void addRunningSandbox(KubernetesClient client) {
        var sandbox = new Sandbox();
        sandbox.setMetadata(new ObjectMetaBuilder()
                .withName("box")
                .withNamespace("sandglass-default")
                .build());
        sandbox.setSpec(SandboxSpec.DEFAULT);
        var ready = new ConditionBuilder()
                .withType("Ready")
                .withStatus("True")
                .withReason("Running")
                .build();
        sandbox.setStatus(
                new SandboxStatus(1L, List.of(ready), "127.0.0.1", "pod", 1, null, null, null, null, null, null));
        client.resource(sandbox).create();
    }

    private static HttpRequest request(ConfigurableApplicationContext app, String body) {
        String port = app.getEnvironment().getRequiredProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/mcp"))
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }
}
