package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.toolserver.CallLimits;
import dev.sandglass.api.toolserver.SandboxSelector;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers.Asker;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.mockwebserver.http.MockResponse;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** Which sandbox may use which shared server, as the resources in a mock of the API server say. */
class SharedToolServersTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String CRD = "META-INF/fabric8/sandboxtoolservers.sandglass.dev-v1.yml";
    private static final KubernetesSettings SETTINGS =
            new KubernetesSettings(Duration.ofMinutes(40), Duration.ofMillis(200), Duration.ofSeconds(5));

    private final Kinds kinds = new Kinds();

    @RegisterExtension
    final MockApi server = new MockApi(kinds);

    private @Nullable KubernetesSandboxes sandboxes;
    private @Nullable SharedToolServers servers;

    private SharedToolServers start(List<String> namespaces) {
        KubernetesClient client = server.client();
        sandboxes = new KubernetesSandboxes(client, namespaces, SETTINGS, DefaultDomains.NONE, Clock.systemUTC());
        servers = new SharedToolServers(client, namespaces, sandboxes);
        sandboxes.start();
        servers.start();
        await().atMost(SOON).until(sandboxes::isSynced);
        return servers;
    }

    private void loadCrds() {
        FakeOperator.loadCrd(server.client());
        server.client()
                .load(SharedToolServersTest.class.getClassLoader().getResourceAsStream(CRD))
                .create();
    }

    @AfterEach
    void stop() {
        if (servers != null) {
            servers.close();
        }
        if (sandboxes != null) {
            sandboxes.close();
        }
    }

    private Sandbox sandbox(String namespace, String name, Map<String, String> labels) {
        var resource = new Sandbox();
        resource.setMetadata(new ObjectMetaBuilder()
                .withNamespace(namespace)
                .withName(name)
                .withLabels(labels)
                .build());
        return server.client().resource(resource).create();
    }

    private void toolServer(String namespace, String name, @Nullable SandboxSelector selector) {
        var stdio = new StdioServer(null, "npx", List.of("-y", "server"), List.of(), null);
        var limits = new CallLimits("30s", new Quantity("1Mi"), 4, 10);
        create(namespace, name, new SandboxToolServerSpec(stdio, null, null, null, null, null, null, limits, selector));
    }

    private void create(String namespace, String name, SandboxToolServerSpec spec) {
        var resource = new SandboxToolServer();
        resource.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
        resource.setSpec(spec);
        server.client().resource(resource).create();
    }

    private static Asker asker(SharedToolServers known, Sandbox sandbox) {
        String uid = sandbox.getMetadata().getUid();
        await().atMost(SOON).until(() -> known.asker(uid).isPresent());
        return known.asker(uid).orElseThrow();
    }

    private static SandboxSelector team(String value) {
        return new SandboxSelector(Map.of("team", value), null);
    }

    @Test
    void aSandboxUsesTheServersOfItsNamespaceWhoseSelectorItMatches() {
        loadCrds();
        SharedToolServers known = start(List.of("sandglass-default", "sandglass-other"));
        toolServer("sandglass-default", "brave-search", null);
        toolServer("sandglass-default", "of-a", team("a"));
        toolServer("sandglass-default", "of-b", team("b"));
        toolServer("sandglass-other", "others", null);
        Asker a = asker(known, sandbox("sandglass-default", "one", Map.of("team", "a")));
        Asker plain = asker(known, sandbox("sandglass-default", "two", Map.of()));
        Asker other = asker(known, sandbox("sandglass-other", "three", Map.of("team", "a")));
        await().atMost(SOON)
                .until(() -> known.usable(a).size() == 2 && known.usable(other).size() == 1);

        assertThat(known.usable(a)).extracting(SharedServer::name).containsExactly("brave_search", "of_a");
        assertThat(known.usable(plain)).extracting(SharedServer::name).containsExactly("brave_search");
        assertThat(known.usable(other)).extracting(SharedServer::name).containsExactly("others");
        assertThat(known.find(a, "of_a")).isPresent();
        assertThat(known.find(a, "of_b")).isEmpty();
        assertThat(known.find(a, "others")).isEmpty();
        assertThat(known.find(a, "brave-search")).isEmpty();
        assertThat(known.find(other, "brave_search")).isEmpty();

        SharedServer found = known.find(plain, "brave_search").orElseThrow();
        assertThat(found.registration())
                .isEqualTo(new Registration.Command(
                        "brave_search", "npx", List.of("-y", "server"), Map.of(), "", ToolServerReader.START));
        assertThat(found.bounds())
                .isEqualTo(new SharedServer.Bounds(Optional.of(Duration.ofSeconds(30)), 1024 * 1024, 4, 10));
        assertThat(found.identity().resource()).isEqualTo("brave-search");
        assertThat(found.identity().revision()).startsWith(found.identity().uid() + ".");
    }

    @Tag("slow")
    @Test
    void everyNamespaceIsWatchedAtOnceWhereTenantsComeAndGo() {
        loadCrds();
        SharedToolServers known = start(List.of(KubernetesSandboxes.EVERYWHERE));
        toolServer("one", "web", null);
        Asker one = asker(known, sandbox("one", "box", Map.of()));
        Asker two = asker(known, sandbox("two", "box", Map.of()));
        await().atMost(SOON).until(() -> known.find(one, "web").isPresent());

        assertThat(known.find(two, "web")).isEmpty();
    }

    /** Else a server's own program could call the others. */
    @Tag("slow")
    @Test
    void theSandboxOfAServerMayUseNone() {
        loadCrds();
        SharedToolServers known = start(List.of("sandglass-default"));
        toolServer("sandglass-default", "web", null);
        Sandbox child = sandbox("sandglass-default", "web-mcp", Map.of(SandboxLabels.TOOL_SERVER, "web"));
        Asker box = asker(known, sandbox("sandglass-default", "box", Map.of()));
        await().atMost(SOON).until(() -> known.find(box, "web").isPresent());

        assertThat(known.asker(child.getMetadata().getUid())).isEmpty();
    }

    @Tag("slow")
    @Test
    void aSpecThatTheSchemaRefusesOpensNothing() {
        loadCrds();
        SharedToolServers known = start(List.of("sandglass-default"));
        var limits = new CallLimits("soon", null, 0, 0);
        var stdio = new StdioServer(null, "npx", null, null, null);
        create(
                "sandglass-default",
                "odd-limits",
                new SandboxToolServerSpec(stdio, null, null, null, null, null, null, limits, null));
        create(
                "sandglass-default",
                "neither",
                new SandboxToolServerSpec(null, null, null, null, null, null, null, null, null));
        var oddSelector = new SandboxSelector(null, List.of(new SandboxSelector.Requirement("team", "Likes", null)));
        toolServer("sandglass-default", "odd-selector", oddSelector);
        toolServer("sandglass-default", "sound", null);
        Asker box = asker(known, sandbox("sandglass-default", "box", Map.of("team", "a")));
        await().atMost(SOON).until(() -> known.find(box, "sound").isPresent());

        assertThat(known.usable(box)).extracting(SharedServer::name).containsExactly("sound");
    }

    @Tag("slow")
    @Test
    void aClusterThatDoesNotKnowTheKindHasNoneUntilItDoesAndIsToldOfOnce() {
        Logger logger = (Logger) LoggerFactory.getLogger(SharedToolServers.class);
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        logger.addAppender(lines);
        try {
            loadCrds();
            kinds.unknown = true;
            SharedToolServers known = start(List.of("sandglass-default", "sandglass-other"));
            Asker box = asker(known, sandbox("sandglass-default", "box", Map.of()));
            await().atMost(SOON).until(() -> kinds.asked.get() >= 6);
            assertThat(known.usable(box)).isEmpty();
            assertThat(known.find(box, "web")).isEmpty();
            assertThat(lines.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .singleElement()
                    .asString()
                    .contains("does not know the kind");

            kinds.unknown = false;
            toolServer("sandglass-default", "web", null);
            await().atMost(SOON).until(() -> known.find(box, "web").isPresent());
        } finally {
            logger.detachAppender(lines);
        }
    }

    /** An API server in which the kind may be missing. */
    private static final class Kinds extends KubernetesCrudDispatcher {
        private final AtomicInteger asked = new AtomicInteger();
        private volatile boolean unknown;

        @Override
        public MockResponse handleGet(String path) {
            if (!unknown || !path.contains("/sandboxtoolservers")) {
                return super.handleGet(path);
            }
            asked.incrementAndGet();
            return new MockResponse().setResponseCode(404).setBody("404 page not found");
        }
    }
}
