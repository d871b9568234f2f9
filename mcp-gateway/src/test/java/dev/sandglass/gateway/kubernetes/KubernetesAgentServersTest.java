package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxProblem.ServerRefused;
import dev.sandglass.gateway.toolserver.AgentServers;
import dev.sandglass.gateway.toolserver.AgentServers.Owner;
import dev.sandglass.gateway.toolserver.AgentServers.Wanted;
import dev.sandglass.gateway.toolserver.Registration;
import dev.sandglass.gateway.toolserver.SharedServer;
import dev.sandglass.gateway.toolserver.SharedServers;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.server.mock.KubernetesCrudDispatcher;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.http.MockResponse;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a registration writes to the API server, and what a removal deletes. */
@SuppressWarnings("NullAway.Init")
class KubernetesAgentServersTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String NAMESPACE = "sandglass-default";
    private static final Owner BOX = new Owner("default", NAMESPACE, "box", "box", "uid-box");
    private static final Owner OTHER = new Owner("default", NAMESPACE, "other", "other", "uid-other");

    private final Refusing secrets = new Refusing();

    @RegisterExtension
    final MockApi server = new MockApi(secrets);

    private final AtomicInteger ofAgents = new AtomicInteger();
    private KubernetesAgentServers servers;

    @BeforeEach
    void start() {
        server.client()
                .load(SandboxToolServer.class
                        .getClassLoader()
                        .getResourceAsStream("META-INF/fabric8/sandboxtoolservers.sandglass.dev-v1.yml"))
                .create();
        servers = new KubernetesAgentServers(server.client(), new Counted(ofAgents));
    }

    @AfterEach
    void stop() {
        servers.close();
    }

    private static Wanted command(String name, Map<String, String> env) {
        var command = new Registration.Command(name, "npx", List.of("-y", "x"), env, "/workspace", SOON);
        return new Wanted(command, List.of("a.example.com"), "alice");
    }

    private AgentServers.Made made(Owner owner, Wanted wanted) {
        return servers.register(owner, wanted).blockOptional(SOON).orElseThrow();
    }

    /** One that has taken its name over. */
    private SharedServer registered(Owner owner, Wanted wanted) {
        SharedServer made = made(owner, wanted).server();
        assertThat(servers.takeOver(owner, made).block(SOON)).isTrue();
        return made;
    }

    private List<SandboxToolServer> resources() {
        return server.client()
                .resources(SandboxToolServer.class)
                .inNamespace(NAMESPACE)
                .list()
                .getItems();
    }

    private List<String> names() {
        return resources().stream().map(AgentServerWrites::givenName).sorted().toList();
    }

    private List<Secret> secrets() {
        return server.client().secrets().inNamespace(NAMESPACE).list().getItems();
    }

    private static Map<String, String> decoded(Secret secret) {
        var values = new TreeMap<String, String>();
        secret.getData()
                .forEach((key, value) ->
                        values.put(key, new String(Base64.getDecoder().decode(value), StandardCharsets.UTF_8)));
        return values;
    }

    @Test
    void valuesLieInASecretAndNotInTheResource() {
        SharedServer made = registered(BOX, command("Brave_Search", Map.of("TOKEN", "s3cret-\u00e4", "EMPTY", "")));

        assertThat(made.name()).isEqualTo("Brave_Search");
        assertThat(made.ofAgent()).isTrue();
        SandboxToolServer resource = resources().getFirst();
        String name = resource.getMetadata().getName();
        assertThat(name).matches("brave-search-[a-z0-9]{12}");
        assertThat(made.identity().resource()).isEqualTo(name);
        assertThat(resource.getMetadata().getLabels())
                .containsEntry("app.kubernetes.io/managed-by", "sandglass-gateway")
                .containsEntry(SandboxLabels.SANDBOX, "box");
        assertThat(resource.getMetadata().getAnnotations())
                .containsEntry(SandboxLabels.GIVEN_NAME, "Brave_Search")
                .containsEntry(SandboxLabels.CREATED_BY, "alice");
        assertThat(resource.getMetadata().getOwnerReferences())
                .singleElement()
                .returns("Sandbox", OwnerReference::getKind)
                .returns("uid-box", OwnerReference::getUid);
        assertThat(resource.getSpec().selector().matches(Map.of(SandboxLabels.SANDBOX_UID, "uid-box")))
                .isTrue();
        assertThat(resource.getSpec().selector().matches(Map.of(SandboxLabels.SANDBOX_UID, "uid-other")))
                .isFalse();
        assertThat(resource.getSpec().allowedDomains()).containsExactly("a.example.com");
        assertThat(resource.getSpec().secretKeys())
                .isEqualTo(Map.of("sandglass-mcp-agent-" + name, new TreeSet<>(List.of("env.EMPTY", "env.TOKEN"))));
        assertThat(Serialization.asJson(resource)).doesNotContain("s3cret");

        Secret secret = secrets().getFirst();
        assertThat(secret.getMetadata().getName()).isEqualTo("sandglass-mcp-agent-" + name);
        assertThat(secret.getType()).isEqualTo("sandglass.dev/mcp-values");
        assertThat(secret.getImmutable()).isTrue();
        assertThat(secret.getMetadata().getOwnerReferences())
                .singleElement()
                .returns("SandboxToolServer", OwnerReference::getKind)
                .returns(name, OwnerReference::getName)
                .returns(resource.getMetadata().getUid(), OwnerReference::getUid)
                .returns(true, OwnerReference::getController);
        assertThat(decoded(secret)).isEqualTo(Map.of("env.TOKEN", "s3cret-\u00e4", "env.EMPTY", ""));
    }

    @Test
    void headersLieThereToo() {
        var url = new Registration.Url(
                "web",
                "https://mcp.example.com/mcp",
                Map.of("X-Key", "k3y", "Authorization", "Bearer s3cret"),
                Registration.Transport.SSE,
                SOON);
        registered(BOX, new Wanted(url, null, "alice"));

        SandboxToolServer resource = resources().getFirst();
        HttpServer http = Optional.ofNullable(resource.getSpec().http()).orElseThrow();
        assertThat(http.headerSecrets())
                .extractingByKeys("Authorization", "X-Key")
                .extracting("key")
                .containsExactly("header.0", "header.1");
        assertThat(http.transport()).isEqualTo("sse");
        assertThat(Serialization.asJson(resource)).doesNotContain("s3cret", "k3y");
        assertThat(decoded(secrets().getFirst())).isEqualTo(Map.of("header.0", "Bearer s3cret", "header.1", "k3y"));
    }

    @Test
    void withoutValuesThereIsNoSecret() {
        registered(BOX, command("web", Map.of()));

        assertThat(resources()).hasSize(1);
        assertThat(secrets()).isEmpty();
    }

    @Test
    void aLongNameIsCutSoThatTheResourceHasOne() {
        String longest = "a" + "_B".repeat(31) + "c";
        registered(BOX, command(longest, Map.of()));

        SandboxToolServer resource = resources().getFirst();
        assertThat(resource.getMetadata().getName()).hasSize(59).startsWith("a-b-b");
        assertThat(AgentServerWrites.givenName(resource)).isEqualTo(longest);
    }

    @Test
    void aSecretThatIsRefusedLeavesNoResource() {
        secrets.refuse = true;

        assertThatThrownBy(() -> registered(BOX, command("web", Map.of("TOKEN", "s3cret"))))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageContaining("The cluster refused MCP server 'web': exceeded quota")
                .hasMessageNotContaining("s3cret");
        await().atMost(SOON).until(() -> resources().isEmpty());
    }

    @Test
    void oneOfTheSameSandboxAndNameIsReplaced() {
        registered(BOX, command("web", Map.of("A", "1")));
        registered(BOX, command("Web", Map.of()));
        registered(OTHER, command("web", Map.of()));
        String before = resources().stream()
                .filter(each -> AgentServerWrites.givenName(each).equals("web")
                        && each.getMetadata().getLabels().containsValue("uid-box"))
                .findFirst()
                .orElseThrow()
                .getMetadata()
                .getName();

        SharedServer after = registered(BOX, command("web", Map.of("A", "2")));

        assertThat(after.identity().resource()).isNotEqualTo(before);
        assertThat(names()).containsExactly("Web", "web", "web");
        assertThat(resources()).noneMatch(each -> each.getMetadata().getName().equals(before));
        assertThat(secrets())
                .extracting(secret -> secret.getMetadata().getName())
                .contains("sandglass-mcp-agent-" + after.identity().resource());
    }

    @Tag("slow")
    @Test
    void aRemovalDeletesTheSandboxsOwnOfThatName() {
        var administrators = new SandboxToolServer();
        administrators.setMetadata(new ObjectMetaBuilder()
                .withNamespace(NAMESPACE)
                .withName("web")
                .addToLabels(SandboxLabels.SANDBOX_UID, "uid-box")
                .addToAnnotations(SandboxLabels.GIVEN_NAME, "web")
                .build());
        administrators.setSpec(new SandboxToolServerSpec(
                new StdioServer(null, "npx", null, null, null), null, null, null, null, null, null, null, null));
        server.client().resource(administrators).create();
        registered(BOX, command("web", Map.of()));
        registered(BOX, command("kept", Map.of()));
        registered(OTHER, command("web", Map.of()));

        assertThat(servers.remove(BOX, "web").block(SOON)).isTrue();
        assertThat(servers.remove(BOX, "web").block(SOON)).isFalse();

        assertThat(names()).containsExactly("kept", "web", "web");
        assertThat(resources())
                .noneMatch(each -> AgentServerWrites.isOne(each)
                        && each.getMetadata().getLabels().containsValue("uid-box")
                        && AgentServerWrites.givenName(each).equals("web"));
    }

    @Test
    void thatVeryOneIsDeleted() {
        SharedServer first = registered(BOX, command("web", Map.of()));
        registered(OTHER, command("web", Map.of()));

        servers.delete(first).block(SOON);
        servers.delete(first).block(SOON);

        assertThat(resources()).hasSize(1).noneMatch(each -> each.getMetadata()
                .getName()
                .equals(first.identity().resource()));
    }

    @Tag("slow")
    @Test
    void aSandboxHasSixteenAtMostAndReplacesEachOfThem() {
        for (int number = 0; number < AgentServers.MOST; number++) {
            registered(BOX, command("web" + number, Map.of()));
        }

        assertThatThrownBy(() -> registered(BOX, command("another", Map.of())))
                .isInstanceOfSatisfying(ServerRefused.class, refused -> assertThat(refused.why())
                        .isEqualTo(ServerRefused.Cause.TOO_MANY))
                .hasMessageContaining("sandbox 'box' has 16 MCP servers in pods of their own");
        SharedServer anew = made(BOX, command("web3", Map.of())).server();
        // Those that stand aside take no place of another name.
        assertThatThrownBy(() -> made(BOX, command("another", Map.of()))).isInstanceOf(ServerRefused.class);
        made(BOX, command("web4", Map.of()));
        servers.takeOver(BOX, anew).block(SOON);
        registered(OTHER, command("another", Map.of()));
        assertThat(resources()).hasSize(AgentServers.MOST + 2);
    }

    @Test
    void aNamespaceHasAMostToo() {
        ofAgents.set(AgentServers.MOST_IN_NAMESPACE - 1);
        registered(BOX, command("web", Map.of()));
        ofAgents.set(AgentServers.MOST_IN_NAMESPACE);

        assertThatThrownBy(() -> registered(BOX, command("another", Map.of())))
                .isInstanceOf(ServerRefused.class)
                .hasMessageContaining("namespace 'default' has 256 MCP servers that agents registered");
        registered(BOX, command("web", Map.of()));
    }

    /** Knows how many there are. */
    private record Counted(AtomicInteger count) implements SharedServers {
        @Override
        public int ofAgents(String namespace) {
            return count.get();
        }

        @Override
        public Optional<Asker> asker(String sandboxUid) {
            return Optional.empty();
        }

        @Override
        public Optional<SharedServer> find(Asker asker, String name) {
            return Optional.empty();
        }

        @Override
        public List<SharedServer> usable(Asker asker) {
            return List.of();
        }
    }

    /** An API server that may refuse Secrets. */
    private static final class Refusing extends KubernetesCrudDispatcher {
        private volatile boolean refuse;

        @Override
        public MockResponse dispatch(RecordedRequest request) {
            if (!refuse || !request.getPath().contains("/secrets")) {
                return super.dispatch(request);
            }
            return new MockResponse().setResponseCode(403).setBody("""
                    {"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,\
                    "message":"exceeded quota: secrets"}""");
        }
    }
}
