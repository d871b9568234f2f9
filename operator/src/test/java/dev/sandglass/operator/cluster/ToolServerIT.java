package dev.sandglass.operator.cluster;

import static dev.sandglass.api.toolserver.ToolServerCondition.ACCEPTED;
import static dev.sandglass.api.toolserver.ToolServerCondition.AVAILABLE;
import static dev.sandglass.api.toolserver.ToolServerCondition.READY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.ConditionType;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerSpec;
import dev.sandglass.api.toolserver.StdioServer;
import dev.sandglass.api.toolserver.ToolServerCondition;
import dev.sandglass.operator.BeyondNamespace;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ToolServerChild;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tool servers before a real API server and a real node, with the operator's own rights only. */
class ToolServerIT {

    private static final Duration SOON = Duration.ofSeconds(90);

    private TestNamespace namespace;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
    }

    @AfterEach
    void cleanUp() {
        namespace.close();
    }

    private static SandboxToolServerSpec spec(@Nullable String idleTimeout, @Nullable List<String> domains) {
        StdioServer stdio = new StdioServer(null, "uvx", List.of("mcp-server-time"), null, null);
        return new SandboxToolServerSpec(stdio, null, domains, null, null, idleTimeout, null, null, null);
    }

    private SandboxToolServer create(String name, SandboxToolServerSpec spec) {
        SandboxToolServer server = new SandboxToolServer();
        server.getMetadata().setName(name);
        server.getMetadata().setNamespace(namespace.name);
        server.setSpec(spec);
        return namespace.admin.resource(server).create();
    }

    private Resource<SandboxToolServer> server(String name) {
        return namespace
                .admin
                .resources(SandboxToolServer.class)
                .inNamespace(namespace.name)
                .withName(name);
    }

    private static Predicate<SandboxToolServer> says(ToolServerCondition type, String status, String reason) {
        return server -> server != null
                && server.observed()
                        .condition(type)
                        .filter(told -> told.getStatus().equals(status)
                                && told.getReason().equals(reason))
                        .isPresent();
    }

    private SandboxToolServer told(String name, ToolServerCondition type, String status, String reason) {
        return server(name).waitUntilCondition(says(type, status, reason), SOON.toMillis(), TimeUnit.MILLISECONDS);
    }

    private Sandbox child(String name) {
        return namespace.get(SandboxToolServer.childName(name));
    }

    /** As long a name as there may be, so that the child's is as long as a Sandbox's may be. */
    @Test
    void aToolServerIsReadyWhenItsPodRunsAndGoesWithAllThatItHas() {
        try (TestNamespace.Running _ = namespace.operator(Map.of())) {
            String name = "t".repeat(SandboxToolServer.MAX_NAME);
            SandboxToolServer made = create(name, spec(null, List.of("example.com")));

            SandboxToolServer ready = told(name, READY, "True", "Running");

            Sandbox child = child(name);
            assertThat(ready.observed().holds(ACCEPTED)).isTrue();
            assertThat(ready.observed().holds(AVAILABLE)).isTrue();
            assertThat(ready.observed().sandboxName())
                    .isEqualTo(child.getMetadata().getName());
            assertThat(ToolServerChild.belongsTo(made, child)).isTrue();
            assertThat(child.wanted().memory()).isEqualTo(new Quantity("256Mi"));
            assertThat(child.wanted().allowedDomains()).containsExactly("example.com");
            toldOnceAsAnEvent("SandboxMade");

            namespace.admin.resource(ready).delete();

            await("garbage collection")
                    .atMost(SOON)
                    .until(() -> namespace
                                    .admin
                                    .resources(Sandbox.class)
                                    .inNamespace(namespace.name)
                                    .list()
                                    .getItems()
                                    .isEmpty()
                            && namespace.pods().isEmpty());
        }
    }

    /** The Event is written after the status that a test waits for. */
    private void toldOnceAsAnEvent(String reason) {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(events(reason)).as(reason).isNotEmpty());
        assertThat(events(reason)).as(reason).hasSize(1);
    }

    private List<Event> events(String reason) {
        return namespace.admin.events().v1().events().inNamespace(namespace.name).list().getItems().stream()
                .filter(event -> reason.equals(event.getReason())
                        && event.getRegarding().getKind().equals("SandboxToolServer"))
                .toList();
    }

    @Test
    void aChildThatWasDeletedIsMadeAgainAndOneThatWasEditedIsMended() {
        try (TestNamespace.Running _ = namespace.operator(Map.of())) {
            create("time", spec(null, null));
            told("time", ACCEPTED, "True", "SandboxMade");
            Sandbox first = child("time");

            namespace.admin.resource(first).delete();
            Sandbox second = namespace.await("time-mcp", SOON, found -> !found.getMetadata()
                    .getUid()
                    .equals(first.getMetadata().getUid()));
            assertThat(second.wanted()).isEqualTo(first.wanted());

            namespace.edit("time-mcp", second.wanted().withSuspended(true).withAllowedDomains(List.of("example.org")));
            Sandbox mended = namespace.await(
                    "time-mcp",
                    SOON,
                    found -> found.getMetadata().getGeneration() >= 3
                            && found.wanted().equals(first.wanted()));
            assertThat(mended.getMetadata().getUid())
                    .isEqualTo(second.getMetadata().getUid());
        }
    }

    @Test
    void aServerThatSleepsIsReadyAndIsNotForgotten() {
        try (TestNamespace.Running _ = namespace.operator(Map.of("OPERATOR_RETENTION", "10s"))) {
            create("time", spec("10s", null));
            told("time", READY, "True", "Running");

            SandboxToolServer asleep = told("time", READY, "True", "Idle");

            assertThat(asleep.observed().holds(AVAILABLE)).isFalse();
            Sandbox child = child("time");
            assertThat(child.observed().holds(ConditionType.SUSPENDED)).isTrue();
            assertThat(child.observed().expiresAt())
                    .as("when it would be forgotten")
                    .isNull();
        }
    }

    @Test
    void aForeignSandboxIsLeftAloneAndItsEndFreesTheName() {
        Sandbox foreign = namespace.create("time-mcp", SandboxSpec.DEFAULT.withSuspended(true));
        try (TestNamespace.Running _ = namespace.operator(Map.of())) {
            create("time", spec(null, null));

            SandboxToolServer refused = told("time", ACCEPTED, "False", "NameTaken");

            assertThat(refused.observed().holds(READY)).isFalse();
            assertThat(child("time").wanted()).isEqualTo(foreign.wanted());
            assertThat(child("time").getMetadata().getOwnerReferences()).isEmpty();
            toldOnceAsAnEvent("NameTaken");

            namespace.admin.resource(foreign).delete();
            namespace.again(() -> server("time").edit(found -> {
                found.setSpec(spec("1h", null));
                return found;
            }));
            told("time", ACCEPTED, "True", "SandboxMade");
        }
    }

    @Test
    void anAnswerOfTheApiServerIsToldInItsWords() {
        namespace
                .admin
                .resource(new ResourceQuotaBuilder()
                        .withNewMetadata()
                        .withName("none")
                        .withNamespace(namespace.name)
                        .endMetadata()
                        .withNewSpec()
                        .addToHard("count/sandboxes.sandglass.dev", new Quantity("0"))
                        .endSpec()
                        .build())
                .create();
        namespace
                .admin
                .resourceQuotas()
                .inNamespace(namespace.name)
                .withName("none")
                .waitUntilCondition(
                        quota -> !quota.getStatus().getHard().isEmpty(), SOON.toMillis(), TimeUnit.MILLISECONDS);
        try (TestNamespace.Running _ = namespace.operator(Map.of())) {
            create("time", spec(null, null));

            Condition refused = told("time", ACCEPTED, "False", "SandboxRefused")
                    .observed()
                    .condition(ACCEPTED)
                    .orElseThrow();

            assertThat(refused.getMessage()).contains("exceeded quota", "count/sandboxes.sandglass.dev");
        }
    }

    @Test
    void inANamespaceThatIsNoTenantsNothingIsMadeUntilItIs() {
        BeyondNamespace beyond = new BeyondNamespace(namespace);
        beyond.tenantByLabel();
        namespace.again(
                () -> namespace.admin.namespaces().withName(namespace.name).edit(found -> {
                    found.getMetadata().getLabels().remove(SandboxLabels.TENANT);
                    return found;
                }));
        Map<String, String> byLabel =
                Map.of("OPERATOR_NAMESPACES", "none-by-name", "OPERATOR_TENANTS_BY_LABEL", "true");
        try (TestNamespace.Running _ = namespace.operator(byLabel, beyond.blinkers())) {
            create("time", spec(null, null));
            await().during(Duration.ofSeconds(2)).atMost(SOON).untilAsserted(() -> assertThat(
                            server("time").require().getStatus())
                    .isNull());

            namespace.again(
                    () -> namespace.admin.namespaces().withName(namespace.name).edit(found -> {
                        found.getMetadata().getLabels().put(SandboxLabels.TENANT, "it");
                        return found;
                    }));

            told("time", ACCEPTED, "True", "SandboxMade");
        }
    }
}
