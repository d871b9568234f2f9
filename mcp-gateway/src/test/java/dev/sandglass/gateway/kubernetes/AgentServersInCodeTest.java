package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.toolserver.SandboxSelector;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.toolserver.AgentServers.Owner;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers.Asker;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** By which name code knows a server that an agent registered, and in which sandbox. */
@SuppressWarnings("NullAway.Init")
class AgentServersInCodeTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Clock LATER = Clock.offset(Clock.systemUTC(), Succession.LONGEST.plusMinutes(1));
    private static final String NAMESPACE = "sandglass-default";
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));

    @RegisterExtension
    final MockApi server = new MockApi();

    private KubernetesSandboxes sandboxes;
    private SharedToolServers known;
    private KubernetesAgentServers agents;

    @BeforeEach
    void start() {
        FakeOperator.loadCrd(server.client());
        server.client()
                .load(SandboxToolServer.class
                        .getClassLoader()
                        .getResourceAsStream("META-INF/fabric8/sandboxtoolservers.sandglass.dev-v1.yml"))
                .create();
        List<String> namespaces = List.of(NAMESPACE);
        sandboxes =
                new KubernetesSandboxes(server.client(), namespaces, SETTINGS, DefaultDomains.NONE, Clock.systemUTC());
        known = new SharedToolServers(server.client(), namespaces, sandboxes);
        agents = new KubernetesAgentServers(server.client(), known);
        sandboxes.start();
        known.start();
        await().atMost(SOON).until(() -> sandboxes.isSynced() && known.isSynced());
    }

    @AfterEach
    void stop() {
        agents.close();
        known.close();
        sandboxes.close();
    }

    private Asker asker(String name, Map<String, String> labels) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withNamespace(NAMESPACE)
                .withName(name)
                .withLabels(labels)
                .build());
        String uid = server.client().resource(resource).create().getMetadata().getUid();
        await().atMost(SOON).until(() -> known.asker(uid).isPresent());
        return known.asker(uid).orElseThrow();
    }

    private static Owner owner(Asker asker) {
        return new Owner("default", asker.namespace(), asker.name(), asker.name(), asker.uid());
    }

    private SharedServer registered(Asker asker, String name) {
        var command = new Registration.Command(name, "npx", List.of(), Map.of(), "", SOON);
        SharedServer made = agents.register(owner(asker), new Wanted(command, null, "alice"))
                .blockOptional(SOON)
                .orElseThrow()
                .server();
        await().atMost(SOON).until(() -> known.current(made.identity()).isPresent());
        return made;
    }

    private SandboxToolServer applied(ObjectMeta meta, @Nullable SandboxSelector selector) {
        var resource = new SandboxToolServer();
        resource.setMetadata(meta);
        resource.setSpec(new SandboxToolServerSpec(
                new StdioServer(null, "uvx", null, null, null), null, null, null, null, null, null, null, selector));
        SandboxToolServer made = server.client().resource(resource).create();
        await().atMost(SOON).until(() -> server.client().resource(resource).get() != null && isKnown(made));
        return made;
    }

    private boolean isKnown(SandboxToolServer made) {
        return known.current(new SharedServer.Identity(
                        NAMESPACE,
                        made.getMetadata().getName(),
                        made.getMetadata().getUid(),
                        0))
                .isPresent();
    }

    private static ObjectMeta named(String name) {
        return new ObjectMetaBuilder().withNamespace(NAMESPACE).withName(name).build();
    }

    @Test
    void codeOfThatSandboxAloneKnowsItByTheNameThatTheAgentGave() {
        Asker box = asker("box", Map.of());
        Asker other = asker("other", Map.of());

        SharedServer made = registered(box, "Brave_Search");

        assertThat(known.find(box, "Brave_Search")).contains(made);
        assertThat(known.find(box, "brave_search")).isEmpty();
        assertThat(known.usable(box)).containsExactly(made);
        assertThat(known.usable(other)).isEmpty();
        assertThat(known.ofAgents(NAMESPACE)).isEqualTo(1);
        assertThat(known.ofAgents("sandglass-other")).isZero();
    }

    @Test
    void codeCallsTheFormerUntilTheNewOneTakesOver() {
        Asker box = asker("box", Map.of());
        SharedServer former = registered(box, "web");
        assertThat(known.isBeingReplaced(box, "web")).isFalse();

        SharedServer anew = registered(box, "web");

        assertThat(known.find(box, "web")).contains(former);
        assertThat(known.usable(box)).containsExactly(former);
        assertThat(known.isBeingReplaced(box, "web")).isTrue();
        assertThat(known.isBeingReplaced(box, "other")).isFalse();

        agents.takeOver(owner(box), anew).block(SOON);

        await().atMost(SOON).until(() -> known.find(box, "web").equals(Optional.of(anew)));
        assertThat(known.isBeingReplaced(box, "web")).isFalse();
    }

    /** Its gateway died before it ran: another one deletes it when no registration could still be under way. */
    @Test
    void whatStandsAsideForEverIsDeleted() {
        Asker box = asker("box", Map.of());
        SharedServer former = registered(box, "web");
        SharedServer left = registered(box, "web");
        SharedServer alone = registered(box, "alone");

        look(Clock.systemUTC());
        assertThat(resources()).hasSize(3);
        look(LATER);

        assertThat(resources())
                .containsExactlyInAnyOrder(
                        former.identity().resource(), alone.identity().resource());
        assertThat(resources()).doesNotContain(left.identity().resource());
    }

    @Test
    void whatAnOldCacheShowsAsAsideStaysIfItHasTakenOver() {
        Asker box = asker("box", Map.of());
        registered(box, "web");
        SharedServer anew = registered(box, "web");
        known.close();
        agents.takeOver(owner(box), anew).block(SOON);
        assertThat(known.isBeingReplaced(box, "web")).isTrue();

        look(LATER);

        assertThat(resources()).containsExactly(anew.identity().resource());
    }

    private void look(Clock clock) {
        try (var servers = new AbandonedServers(server.client(), known, clock)) {
            servers.look().block(SOON);
        }
    }

    private List<String> resources() {
        return server.client().resources(SandboxToolServer.class).inNamespace(NAMESPACE).list().getItems().stream()
                .map(resource -> resource.getMetadata().getName())
                .toList();
    }

    /** A user of the cluster may label sandboxes, and makes none another one by it. */
    @Test
    void aForgedLabelOpensNothing() {
        Asker box = asker("box", Map.of());
        Asker forger = asker(
                "forger", Map.of(SandboxLabels.SANDBOX_UID, box.uid(), SandboxLabels.SANDBOX, "box", "team", "a"));
        registered(box, "web");
        applied(named("of-box"), new SandboxSelector(Map.of(SandboxLabels.SANDBOX, "box"), null));
        applied(named("of-a"), new SandboxSelector(Map.of("team", "a"), null));

        assertThat(known.usable(box)).extracting(SharedServer::name).containsExactly("of_box", "web");
        assertThat(known.usable(forger)).extracting(SharedServer::name).containsExactly("of_a");
    }

    @Test
    void anAdministratorsComesBeforeAnAgentsOfThatName() {
        Asker box = asker("box", Map.of());
        SharedServer agents = registered(box, "web");
        assertThat(known.find(box, "web")).contains(agents);

        applied(named("web"), null);

        assertThat(known.find(box, "web").orElseThrow().ofAgent()).isFalse();
        assertThat(known.usable(box)).singleElement().matches(server -> !server.ofAgent());
    }

    @Test
    void anAnnotationWithoutTheLabelNamesNothing() {
        Asker box = asker("box", Map.of());
        ObjectMeta plain = new ObjectMetaBuilder(named("plain"))
                .addToAnnotations(SandboxLabels.GIVEN_NAME, "other_name")
                .build();
        applied(plain, null);

        assertThat(known.usable(box)).extracting(SharedServer::name).containsExactly("plain");
    }

    @Test
    void aLabelWithoutANameOpensNothing() {
        Asker box = asker("box", Map.of());
        var nameless = new SandboxToolServer();
        nameless.setMetadata(new ObjectMetaBuilder(named("nameless"))
                .addToLabels(SandboxLabels.MANAGED_BY, AgentServerWrites.GATEWAY)
                .build());
        nameless.setSpec(new SandboxToolServerSpec(
                new StdioServer(null, "uvx", null, null, null), null, null, null, null, null, null, null, null));
        server.client().resource(nameless).create();
        applied(named("sound"), null);

        assertThat(known.usable(box)).extracting(SharedServer::name).containsExactly("sound");
    }
}
