package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.sandbox.SandboxConfig;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.testing.NamesWhatIsMissing;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.test.StepVerifier;

/** The sandboxes of shared servers are not there for callers, and there for calls of tools. */
class HiddenServersTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String NAMESPACE = "sandglass-default";
    private static final SandboxRef CHILD = new SandboxRef("default", NAMESPACE, "web-mcp", "web-mcp");
    private static final SandboxRef BOX = new SandboxRef("default", NAMESPACE, "box", "box");
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));

    @RegisterExtension
    final MockApi server = new MockApi(new NamesWhatIsMissing());

    private KubernetesSandboxes sandboxes;
    private Sandboxes children;
    private String childUid;

    @BeforeEach
    void start() {
        FakeOperator.loadCrd(server.client());
        childUid = create("web-mcp", Map.of(SandboxLabels.TOOL_SERVER, "web"));
        create("box", Map.of());
        sandboxes = new KubernetesSandboxes(
                server.client(), List.of(NAMESPACE), SETTINGS, DefaultDomains.NONE, Clock.systemUTC());
        children = sandboxes.ofServers();
        sandboxes.start();
        await().atMost(SOON).until(sandboxes::isSynced);
    }

    @AfterEach
    void stop() {
        sandboxes.close();
    }

    private String create(String name, Map<String, String> labels) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withNamespace(NAMESPACE)
                .withName(name)
                .withLabels(labels)
                .build());
        return server.client().resource(resource).create().getMetadata().getUid();
    }

    private Sandbox resource() {
        return server.client()
                .resources(Sandbox.class)
                .inNamespace(NAMESPACE)
                .withName("web-mcp")
                .require();
    }

    @Test
    void callersDoNotFindThem() {
        assertThat(sandboxes.list("default", NAMESPACE))
                .extracting(state -> state.ref().name())
                .containsExactly("box");
        assertThat(sandboxes.find(CHILD)).isEmpty();
        StepVerifier.create(sandboxes.findByUid("default", NAMESPACE, childUid, 1))
                .expectNext(Optional.empty())
                .verifyComplete();
        StepVerifier.create(sandboxes.states(CHILD).next())
                .expectNext(Optional.empty())
                .verifyComplete();
        StepVerifier.create(sandboxes.running(CHILD)).verifyErrorSatisfies(problem -> assertThat(problem)
                .isInstanceOfSatisfying(SandboxProblem.NotFound.class, why -> {
                    assertThat(why.fact()).contains("not found", "'-mcp' are reserved");
                    assertThat(why.next()).isNull();
                }));
    }

    @Test
    void callersChangeNothingOfThem() {
        String version = resource().getMetadata().getResourceVersion();
        var larger = new SandboxConfig(null, "1Gi", null, null, null);

        StepVerifier.create(sandboxes.start(CHILD, larger, "alice", () -> {}))
                .verifyErrorSatisfies(problem -> assertThat(problem)
                        .isInstanceOf(SandboxProblem.Refused.class)
                        .hasMessageContaining("'-mcp' are reserved"));
        StepVerifier.create(sandboxes.resume(CHILD)).verifyError(SandboxProblem.NotFound.class);
        StepVerifier.create(sandboxes.stop(CHILD)).verifyError(SandboxProblem.NotFound.class);
        StepVerifier.create(sandboxes.delete(CHILD)).verifyError(SandboxProblem.NotFound.class);
        assertThat(resource().getMetadata().getResourceVersion()).isEqualTo(version);
    }

    @Test
    void callsOfToolsFindThemAndNothingElse() {
        assertThat(children.find(CHILD)).containsInstanceOf(SandboxState.Pending.class);
        assertThat(children.find(BOX)).isEmpty();
        assertThat(children.list("default", NAMESPACE))
                .extracting(state -> state.ref().name())
                .containsExactly("web-mcp");
        StepVerifier.create(children.resume(BOX)).verifyError(SandboxProblem.NotFound.class);
    }

    /** It was made before the names were reserved, or with kubectl. */
    @Tag("slow")
    @Test
    void aSandboxOfSuchANameThatIsNoServersGoesOn() {
        create("old-mcp", Map.of());
        var old = new SandboxRef("default", NAMESPACE, "old-mcp", "old-mcp");
        await().atMost(SOON).until(() -> sandboxes.find(old).isPresent());

        StepVerifier.create(sandboxes.stop(old)).verifyComplete();
        assertThat(children.find(old)).isEmpty();
    }
}
