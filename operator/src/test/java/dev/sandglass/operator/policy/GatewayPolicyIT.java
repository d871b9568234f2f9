package dev.sandglass.operator.policy;

import static dev.sandglass.operator.policy.ChartPolicies.granted;
import static dev.sandglass.operator.policy.ChartPolicies.refused;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.toolserver.HttpHeader;
import dev.sandglass.api.toolserver.HttpServer;
import dev.sandglass.api.toolserver.SandboxSelector;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.SecretKeyRef;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.api.toolserver.ValueSource;
import dev.sandglass.operator.TestNamespace;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The chart's admission policies about what the gateway writes of MCP servers, as rendered, before a real API server: each
 * attack succeeds without them. The gateway's account has an administrator's rights here, so that nothing but a policy
 * refuses it.
 */
class GatewayPolicyIT {

    private static final String NAME = "web-0123456789ab";
    private static final String SECRET = "sandglass-mcp-agent-" + NAME;
    private static final String UID = "11111111-2222-3333-4444-555555555555";

    private static final String OF_SERVERS = "may create only Secrets of SandboxToolServers";
    private static final String OWN_SECRET = "variables and headers come from their own Secret";

    private TestNamespace namespace;
    private ChartPolicies policies;
    private KubernetesClient gateway;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        policies = new ChartPolicies(namespace, "gateway-secrets", "gateway-tool-servers");
        gateway = policies.gateway();
    }

    @AfterEach
    void cleanUp() {
        policies.close();
        gateway.close();
        namespace.close();
    }

    /** Has the policies hold in this namespace, and waits until they do: the API server reads them a moment later. */
    private void install() {
        policies.install();
        await("the policies").atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            refused(() -> tried(secret(made -> made.getMetadata().setName("some"))), OF_SERVERS);
            refused(() -> tried(server(SECRET + "-not", made -> {})), OWN_SECRET);
        });
    }

    private <T extends HasMetadata> T tried(T made) {
        return gateway.resource(made).dryRun(true).create();
    }

    /** As the gateway makes one, but for a change. */
    private Secret secret(Consumer<Secret> change) {
        Secret secret = new SecretBuilder()
                .withNewMetadata()
                .withName(SECRET)
                .withNamespace(namespace.name)
                .addToLabels(SandboxLabels.MANAGED_BY, "sandglass-gateway")
                .withOwnerReferences(owner("SandboxToolServer", NAME, true))
                .endMetadata()
                .withType("sandglass.dev/mcp-values")
                .withImmutable(true)
                .addToData("env.TOKEN", "czNjcmV0")
                .build();
        change.accept(secret);
        return secret;
    }

    private static OwnerReference owner(String kind, String name, @Nullable Boolean controller) {
        return new OwnerReferenceBuilder()
                .withApiVersion("sandglass.dev/v1alpha1")
                .withKind(kind)
                .withName(name)
                .withUid(UID)
                .withController(controller)
                .build();
    }

    private static OwnerReference owner(HasMetadata made) {
        return made.getMetadata().getOwnerReferences().getFirst();
    }

    /** The same of a SandboxToolServer with a header from that Secret. */
    private SandboxToolServer server(String secret, Consumer<SandboxToolServer> change) {
        var header = new HttpHeader("Authorization", null, new ValueSource(new SecretKeyRef(secret, "header.0")));
        var http = new HttpServer("https://mcp.example.com/mcp", List.of(header), null);
        var server = new SandboxToolServer();
        server.setMetadata(new ObjectMetaBuilder()
                .withName(NAME)
                .withNamespace(namespace.name)
                .addToLabels(SandboxLabels.MANAGED_BY, "sandglass-gateway")
                .addToAnnotations(SandboxLabels.GIVEN_NAME, "web")
                .addToAnnotations(SandboxLabels.REGISTRATION, "2")
                .withOwnerReferences(owner("Sandbox", "box", null))
                .build());
        server.setSpec(spec(null, http, UID));
        change.accept(server);
        return server;
    }

    private static SandboxToolServerSpec spec(@Nullable StdioServer stdio, @Nullable HttpServer http, String uid) {
        var selector = new SandboxSelector(Map.of(SandboxLabels.SANDBOX_UID, uid), null);
        return new SandboxToolServerSpec(stdio, http, null, null, null, null, null, null, selector);
    }

    private static HttpServer literal() {
        return new HttpServer("https://a.example.com", List.of(new HttpHeader("A", "b", null)), null);
    }

    private void attacksOnSecrets(Judge judge) {
        judge.of(() -> tried(secret(made -> made.setType("Opaque"))), "of the type sandglass.dev/mcp-values");
        judge.of(() -> tried(secret(made -> made.setImmutable(false))), "and immutable ones");
        judge.of(() -> tried(secret(made -> made.getMetadata().setName("mountable-token"))), OF_SERVERS);
        judge.of(() -> tried(secret(made -> made.getMetadata().setName("sandglass-mcp-github"))), OF_SERVERS);
        judge.of(() -> tried(secret(made -> made.getMetadata().setOwnerReferences(List.of()))), OF_SERVERS);
        judge.of(() -> tried(secret(made -> owner(made).setKind("Sandbox"))), OF_SERVERS);
        judge.of(() -> tried(secret(made -> owner(made).setName("other"))), OF_SERVERS);
        judge.of(() -> tried(secret(made -> owner(made).setController(false))), OF_SERVERS);
        judge.of(
                () -> tried(secret(made -> made.getMetadata().setFinalizers(List.of("a.example.com/b")))),
                "finalizers");
        judge.of(() -> tried(secret(made -> made.getMetadata().getLabels().put("team", "a"))), "without other labels");
        judge.of(() -> tried(secret(made -> made.getMetadata().setLabels(null))), "without other labels");
    }

    private void attacksOnServers(Judge judge) {
        judge.of(() -> tried(server("sandglass-mcp-github", made -> {})), OWN_SECRET);
        judge.of(() -> tried(server("sandglass-mcp-agent-web-ba9876543210", made -> {})), OWN_SECRET);
        judge.of(() -> tried(server(SECRET, made -> made.setSpec(spec(null, literal(), UID)))), OWN_SECRET);
        judge.of(
                () -> tried(server(SECRET, made -> made.getMetadata().setLabels(Map.of("team", "a")))),
                "its label app.kubernetes.io/managed-by");
        judge.of(() -> tried(server(SECRET, made -> made.getMetadata().setName("github"))), "a name of its own");
        judge.of(
                () -> tried(server(SECRET, made -> made.getMetadata().setAnnotations(null))),
                "the annotation sandglass.dev/given-name");
        judge.of(
                () -> tried(server(
                        SECRET, made -> made.setSpec(spec(null, made.getSpec().http(), "other")))),
                "for one sandbox");
        judge.of(
                () -> tried(server(SECRET, made -> made.getMetadata().setOwnerReferences(List.of()))),
                "for one sandbox");
        judge.of(
                () -> tried(server(
                        SECRET, made -> made.setSpec(spec(new StdioServer(null, "sh", null, null, null), null, UID)))),
                "only SandboxToolServers with http");
    }

    /** What is expected of an attack, and the words with which it is refused. */
    private interface Judge {
        void of(Callable<?> attack, String words);
    }

    @Test
    void theGatewayCreatesTheSecretsOfAgentsServersAndNoOther() {
        attacksOnSecrets((attack, words) -> granted(attack));
        Secret made = gateway.resource(secret(one -> {
                    one.setImmutable(null);
                    // Garbage collection takes one whose owner is not there.
                    one.getMetadata().setOwnerReferences(List.of());
                }))
                .create();

        install();

        attacksOnSecrets(ChartPolicies::refused);
        Secret changed = new SecretBuilder(made)
                .withData(Map.of("env.TOKEN", "b3RoZXI="))
                .build();
        refused(() -> gateway.resource(changed).dryRun(true).update(), "neither change nor delete any");
        refused(() -> gateway.resource(made).dryRun(true).delete(), "neither change nor delete any");
        namespace.admin.resource(made).delete();
        granted(() -> tried(secret(one -> {})));
        granted(() -> namespace
                .admin
                .resource(secret(one -> one.setType("Opaque")))
                .dryRun(true)
                .create());
    }

    @Test
    void theGatewayCreatesServersForOneSandboxWithTheirOwnSecretAndNoOther() {
        attacksOnServers((attack, words) -> granted(attack));

        install();

        attacksOnServers(ChartPolicies::refused);
        granted(() -> tried(server(SECRET, made -> {})));
        granted(() -> namespace
                .admin
                .resource(server("sandglass-mcp-github", made -> {}))
                .dryRun(true)
                .create());
    }

    @Test
    void theGatewayDeletesItsOwnServersAndChangesNone() {
        SandboxToolServer theirs = namespace
                .admin
                .resource(server("sandglass-mcp-github", made -> {
                    made.getMetadata().setName("github");
                    made.getMetadata().setLabels(null);
                    made.getMetadata().setOwnerReferences(List.of());
                }))
                .create();
        SandboxToolServer own = namespace
                .admin
                .resource(server(SECRET, made -> made.getMetadata().setOwnerReferences(List.of())))
                .create();
        granted(() -> gateway.resource(theirs).dryRun(true).delete());

        install();

        refused(() -> gateway.resource(theirs).dryRun(true).delete(), "others are an administrator's");
        refused(
                () -> gateway.resources(SandboxToolServer.class)
                        .inNamespace(namespace.name)
                        .withName(NAME)
                        .dryRun(true)
                        .edit(found -> {
                            found.getMetadata().setLabels(Map.of());
                            return found;
                        }),
                "and change none");
        granted(() -> gateway.resource(own).dryRun(true).delete());
    }
}
