package dev.sandglass.gateway.kubernetes;

import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.RunningSandbox;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.testing.NamesWhatIsMissing;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.StepVerifier;

/** Which sandboxes run, whoever uses them, and which of them may be busy. */
class RunningListTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));
    private static final Duration HOUR = Duration.ofHours(1);

    @RegisterExtension
    final MockApi server = new MockApi(new NamesWhatIsMissing());

    private KubernetesClient client;
    private KubernetesSandboxes sandboxes;

    @BeforeEach
    void start() {
        FakeOperator.loadCrd(server.client());
        client = new KubernetesClientBuilder()
                .withConfig(SETTINGS.applyTo(server.client().getConfiguration()))
                .build();
        sandboxes = new KubernetesSandboxes(
                client,
                List.of("sandglass-default", "sandglass-other"),
                SETTINGS,
                DefaultDomains.NONE,
                Clock.systemUTC());
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
    }

    @AfterEach
    void stop() {
        sandboxes.close();
        client.close();
    }

    private FakeOperator create(String namespace, String name, Map<String, String> labels) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withNamespace(namespace)
                .withName(name)
                .withLabels(labels)
                .build());
        server.client().resource(resource).create();
        var operator = new FakeOperator(server.client(), new SandboxRef(namespace, namespace, name, name));
        operator.replaced();
        return operator;
    }

    private List<String> names() {
        return sandboxes.running().stream()
                .map(sandbox -> sandbox.ref().namespace() + "/" + sandbox.ref().name())
                .sorted()
                .toList();
    }

    @Test
    void theRunningOnesOfAllTenantsAndNoServers() {
        create("sandglass-default", "box", Map.of());
        FakeOperator sleeper = create("sandglass-other", "sleeper", Map.of());
        create("sandglass-other", "box", Map.of());
        create("sandglass-other", "web-mcp", Map.of(SandboxLabels.TOOL_SERVER, "web"));
        await().atMost(SOON).until(() -> names().equals(
                        List.of("sandglass-default/box", "sandglass-other/box", "sandglass-other/sleeper")));
        sleeper.suspended("Idle");
        await().atMost(SOON).until(() -> names().equals(List.of("sandglass-default/box", "sandglass-other/box")));
    }

    @Test
    void oneMayBeBusyIfItsLeaseSaysSoAndItRunsStill() {
        FakeOperator operator = create("sandglass-default", "box", Map.of());
        await().atMost(SOON).until(() -> !names().isEmpty());
        RunningSandbox box = sandboxes.running().getFirst();
        StepVerifier.create(sandboxes.mayBeBusy(box)).expectNext(false).verifyComplete();

        sandboxes.active(box, HOUR);
        await().atMost(SOON)
                .until(() -> Boolean.TRUE.equals(sandboxes.mayBeBusy(box).block(SOON)));

        operator.replaced();
        await().atMost(SOON).until(() -> sandboxes.running().getFirst().incarnation() == 2);
        StepVerifier.create(sandboxes.mayBeBusy(box))
                .as("its pod is another one by now")
                .expectNext(false)
                .verifyComplete();
    }

    @Test
    void withoutTheApiServerItIsNotKnown() {
        create("sandglass-default", "box", Map.of());
        await().atMost(SOON).until(() -> !names().isEmpty());
        RunningSandbox box = sandboxes.running().getFirst();
        server.goAway();
        StepVerifier.create(sandboxes.mayBeBusy(box)).verifyError(KubernetesClientException.class);
    }
}
