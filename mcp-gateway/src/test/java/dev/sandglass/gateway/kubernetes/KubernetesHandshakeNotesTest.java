package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.toolserver.ServerHandshake;
import dev.sandglass.api.toolserver.ServerInfo;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.testing.FakeSharedServers;
import dev.sandglass.gateway.testing.NamesWhatIsMissing;
import dev.sandglass.gateway.toolserver.SharedServer;
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

/** Notes as annotations, before a stand-in for the API server. */
class KubernetesHandshakeNotesTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));
    private static final String NAMESPACE = "sandglass-default";
    private static final SharedServer.Identity WEB = FakeSharedServers.identity("web", 1);
    private static final ServerHandshake DONE =
            new ServerHandshake("server-web", 1, true, new ServerInfo("Web", "1.2", "2025-11-25"), 2, null);

    @RegisterExtension
    final MockApi server = new MockApi(new NamesWhatIsMissing());

    private KubernetesClient client;
    private KubernetesSandboxes sandboxes;
    private KubernetesHandshakeNotes notes;

    @BeforeEach
    void start() {
        FakeOperator.loadCrd(server.client());
        var child = new Sandbox();
        child.setMetadata(new ObjectMetaBuilder()
                .withNamespace(NAMESPACE)
                .withName("web-mcp")
                .addToLabels(SandboxLabels.TOOL_SERVER, "web")
                .addToAnnotations("example.com/team", "data")
                .build());
        child.setSpec(SandboxSpec.DEFAULT.withIdleTimeout("1h"));
        server.client().resource(child).create();
        client = new KubernetesClientBuilder()
                .withConfig(SETTINGS.applyTo(server.client().getConfiguration()))
                .build();
        sandboxes =
                new KubernetesSandboxes(client, List.of(NAMESPACE), SETTINGS, DefaultDomains.NONE, Clock.systemUTC());
        notes = new KubernetesHandshakeNotes(client, sandboxes);
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
    }

    @AfterEach
    void stop() {
        notes.close();
        sandboxes.close();
        client.close();
    }

    private Sandbox child() {
        return server.client()
                .resources(Sandbox.class)
                .inNamespace(NAMESPACE)
                .withName("web-mcp")
                .require();
    }

    @Test
    void aNoteIsAnAnnotationAndChangesNothingElse() {
        assertThat(notes.of(WEB)).isEmpty();

        StepVerifier.create(notes.write(WEB, DONE)).expectComplete().verify(SOON);

        assertThat(child().getMetadata().getAnnotations())
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of("example.com/team", "data", SandboxLabels.MCP_HANDSHAKE, DONE.note()));
        assertThat(child().getMetadata().getLabels()).containsEntry(SandboxLabels.TOOL_SERVER, "web");
        assertThat(child().getSpec()).isEqualTo(SandboxSpec.DEFAULT.withIdleTimeout("1h"));
        await().atMost(SOON).untilAsserted(() -> assertThat(notes.of(WEB)).contains(DONE));
    }

    @Test
    void ofAServerThatIsGoneNothingIsNoted() {
        SharedServer.Identity gone = FakeSharedServers.identity("gone", 1);

        StepVerifier.create(notes.write(gone, DONE)).expectComplete().verify(SOON);
        assertThat(notes.of(gone)).isEmpty();
    }

    @Test
    void anApiServerThatIsAwayIsAFailure() {
        server.goAway();

        StepVerifier.create(notes.write(WEB, DONE))
                .expectError(KubernetesClientException.class)
                .verify(SOON);
    }
}
