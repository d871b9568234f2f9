package dev.sandglass.operator.policy;

import static dev.sandglass.operator.policy.ChartPolicies.granted;
import static dev.sandglass.operator.policy.ChartPolicies.refused;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.Volume;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.api.toolserver.SandboxToolServerStatus;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.toolserver.Servers;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The chart's admission policies about tool servers, as rendered, before a real API server: each attack succeeds without
 * them. Administrators attack; the operator's account has their rights here, so that nothing but a policy refuses it.
 */
class ToolServerPolicyIT {

    private static final String LABEL =
            "only the Sandglass operator may set, change or remove sandglass.dev/tool-server";
    private static final String ORDINARY = "may write only Sandboxes of tool servers";
    private static final String NOTE =
            "only the Sandglass gateway may set, change or remove sandglass.dev/mcp-handshake";
    private static final String STATUS = "only the Sandglass operator may write the status";
    private static final String SPEC = "only the Sandglass operator may change the Sandbox of a tool server";

    private TestNamespace namespace;
    private ChartPolicies policies;
    private KubernetesClient operator;
    private SandboxToolServer server;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        policies = new ChartPolicies(namespace, "tool-servers", "operator", "status");
        operator = policies.operator();
        server = Servers.stdio();
        server.getMetadata().setNamespace(namespace.name);
        server.getMetadata().setUid(null);
        // Garbage collection takes a child whose owner is not there.
        server = namespace.admin.resource(server).create();
    }

    @AfterEach
    void cleanUp() {
        policies.close();
        operator.close();
        namespace.close();
    }

    /** Waits until they hold. */
    private void install() {
        policies.install();
        await("the policies").atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            refused(() -> tried(namespace.admin, child(made -> {})), LABEL);
            refused(() -> tried(operator, ordinary("some")), ORDINARY);
            try (KubernetesClient gateway = policies.gateway()) {
                refused(() -> statusEdited(gateway), STATUS);
            }
        });
    }

    private SandboxToolServer statusEdited(KubernetesClient client) {
        return client.resources(SandboxToolServer.class)
                .inNamespace(namespace.name)
                .withName(server.getMetadata().getName())
                .dryRun(true)
                .editStatus(found -> {
                    found.setStatus(new SandboxToolServerStatus(1L, null, "forged"));
                    return found;
                });
    }

    private Sandbox tried(KubernetesClient client, Sandbox sandbox) {
        return client.resource(sandbox).dryRun(true).create();
    }

    private Sandbox edited(KubernetesClient client, String name, Consumer<Sandbox> change) {
        Sandbox found = client.resources(Sandbox.class)
                .inNamespace(namespace.name)
                .withName(name)
                .require();
        change.accept(found);
        return client.resource(found).dryRun(true).update();
    }

    private Sandbox ordinary(String name) {
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName(name);
        sandbox.getMetadata().setNamespace(namespace.name);
        sandbox.setSpec(SandboxSpec.DEFAULT.withSuspended(true));
        return sandbox;
    }

    /** As the operator makes one, but for a change. */
    private Sandbox child(Consumer<Sandbox> change) {
        Sandbox child = ToolServerChild.desired(server);
        change.accept(child);
        return child;
    }

    /** As the operator makes one for another tool server. */
    private Sandbox childOf(String name) {
        SandboxToolServer other = Servers.stdio();
        other.getMetadata().setName(name);
        other.getMetadata().setNamespace(namespace.name);
        return ToolServerChild.desired(other);
    }

    private static Consumer<Sandbox> labelled(String value) {
        return sandbox -> sandbox.getMetadata().getLabels().put(SandboxLabels.TOOL_SERVER, value);
    }

    @Test
    void onlyTheOperatorPassesASandboxOffAsAToolServers() {
        namespace.admin.resource(ordinary("mine")).create();
        Sandbox child = namespace.admin.resource(child(made -> {})).create();
        Consumer<Sandbox> unlabelled =
                sandbox -> sandbox.getMetadata().getLabels().remove(SandboxLabels.TOOL_SERVER);
        String name = child.getMetadata().getName();
        granted(() -> tried(namespace.admin, child(made -> made.getMetadata().setName("other-mcp"))));
        granted(() -> edited(namespace.admin, "mine", labelled("time")));
        granted(() -> edited(namespace.admin, name, labelled("other")));
        granted(() -> edited(namespace.admin, name, unlabelled));

        install();

        refused(() -> tried(namespace.admin, child(made -> made.getMetadata().setName("other-mcp"))), LABEL);
        refused(() -> tried(namespace.admin, child(labelled(""))), LABEL);
        refused(() -> edited(namespace.admin, "mine", labelled("time")), LABEL);
        refused(() -> edited(namespace.admin, "mine", labelled("")), LABEL);
        refused(() -> edited(namespace.admin, name, labelled("other")), LABEL);
        refused(() -> edited(namespace.admin, name, unlabelled), LABEL);
        // What does not touch the label is not refused.
        granted(() -> tried(namespace.admin, ordinary("another")));
        granted(() ->
                edited(namespace.admin, "mine", sandbox -> sandbox.getMetadata().setLabels(Map.of("team", "data"))));
        granted(() -> edited(namespace.admin, name, sandbox -> sandbox.getMetadata()
                .getLabels()
                .put("team", "data")));
        granted(() -> tried(operator, childOf("other")));
    }

    static List<UnaryOperator<SandboxSpec>> edits() {
        return List.of(
                spec -> SandboxSpec.DEFAULT,
                spec -> new SandboxSpec("registry.example.com/mine:1", spec.memory(), spec.cpus(), null, null, false),
                spec -> spec.withAllowedDomains(List.of("mine.example.com")),
                spec -> spec.withVolumes(List.of(Volume.ofClaim("mine", "/mine", false, "mine"))),
                spec -> spec.withPorts(List.of(new SandboxPort("web", 8080))),
                spec -> spec.withSuspended(true));
    }

    /** Else its owner sends what the Secrets hold wherever he likes: a list of hosts holds at once. */
    @Test
    void onlyTheOperatorChangesTheSandboxOfAToolServer() {
        namespace.admin.resource(ordinary("mine")).create();
        String name = namespace
                .admin
                .resource(child(made -> {}))
                .create()
                .getMetadata()
                .getName();
        edits().forEach(edit -> granted(() -> edited(namespace.admin, name, spec(edit))));

        install();

        edits().forEach(edit -> refused(() -> edited(namespace.admin, name, spec(edit)), SPEC));
        edits().forEach(edit -> granted(() -> edited(namespace.admin, "mine", spec(edit))));
        edits().forEach(edit -> granted(() -> edited(operator, name, spec(edit))));
        // What wakes it, and what ends it, is everyone's who may edit Sandboxes.
        granted(() -> edited(namespace.admin, name, sandbox -> sandbox.getMetadata()
                .setAnnotations(Map.of(SandboxLabels.WAKE, "2026-03-01T10:00:00Z"))));
        granted(() -> edited(namespace.admin, name, sandbox -> {}));
        granted(() -> namespace
                .admin
                .resources(Sandbox.class)
                .inNamespace(namespace.name)
                .withName(name)
                .dryRun(true)
                .delete());
    }

    private static Consumer<Sandbox> spec(UnaryOperator<SandboxSpec> edit) {
        return sandbox -> sandbox.setSpec(edit.apply(sandbox.wanted()));
    }

    @Test
    void theOperatorWritesTheSandboxesOfToolServersAndNoOther() {
        namespace.admin.resource(ordinary("mine")).create();
        Sandbox child = namespace.admin.resource(child(made -> {})).create();
        String name = child.getMetadata().getName();
        Consumer<Sandbox> suspended =
                sandbox -> sandbox.setSpec(sandbox.wanted().withSuspended(true).withIdleTimeout("1h"));
        granted(() -> tried(operator, ordinary("some")));
        granted(() -> edited(operator, "mine", suspended));

        install();

        refused(() -> tried(operator, ordinary("some")), ORDINARY);
        refused(() -> edited(operator, "mine", suspended), ORDINARY);
        refused(() -> edited(operator, "mine", sandbox -> sandbox.setMetadata(asChild(sandbox))), ORDINARY);
        refused(() -> tried(operator, child(made -> made.getMetadata().setName("another"))), ORDINARY);
        refused(() -> tried(operator, child(made -> made.getMetadata().setOwnerReferences(List.of()))), ORDINARY);
        refused(() -> tried(operator, child(made -> owner(made).setKind("Sandbox"))), ORDINARY);
        refused(() -> tried(operator, child(made -> owner(made).setController(false))), ORDINARY);
        refused(() -> tried(operator, child(made -> owner(made).setName("other"))), ORDINARY);
        refused(() -> edited(operator, name, sandbox -> sandbox.getMetadata().setOwnerReferences(List.of())), ORDINARY);
        granted(() -> edited(operator, name, suspended));
        granted(() -> operator.resources(Sandbox.class)
                .inNamespace(namespace.name)
                .withName("mine")
                .dryRun(true)
                .delete());
    }

    private ObjectMeta asChild(Sandbox sandbox) {
        return child(made -> {})
                .getMetadata()
                .edit()
                .withName(sandbox.getMetadata().getName())
                .withUid(sandbox.getMetadata().getUid())
                .withResourceVersion(sandbox.getMetadata().getResourceVersion())
                .build();
    }

    private static OwnerReference owner(Sandbox sandbox) {
        return sandbox.getMetadata().getOwnerReferences().getFirst();
    }

    private static Consumer<Sandbox> noted(@Nullable String note) {
        return sandbox -> sandbox.getMetadata()
                .setAnnotations(note == null ? Map.of() : Map.of(SandboxLabels.MCP_HANDSHAKE, note));
    }

    /** Its words stand in a status, where users of Sandboxes write nothing. */
    @Test
    void onlyTheGatewayNotesWhatAServerIs() {
        String mine = "mine";
        namespace.admin.resource(ordinary(mine)).create();
        String name = namespace
                .admin
                .resource(child(noted("{}")))
                .create()
                .getMetadata()
                .getName();
        granted(() -> edited(namespace.admin, name, noted("{\"done\":true}")));
        granted(() -> edited(namespace.admin, name, noted(null)));
        granted(() -> edited(namespace.admin, mine, noted("{}")));

        install();

        refused(() -> edited(namespace.admin, name, noted("{\"done\":true}")), NOTE);
        refused(() -> edited(namespace.admin, name, noted(null)), NOTE);
        refused(() -> edited(namespace.admin, mine, noted("{}")), NOTE);
        Sandbox made = ordinary("other");
        noted("{}").accept(made);
        refused(() -> tried(namespace.admin, made), NOTE);
        granted(() -> edited(namespace.admin, name, found -> found.getMetadata()
                .setAnnotations(Map.of(SandboxLabels.MCP_HANDSHAKE, "{}", "example.com/team", "data"))));
        granted(() -> edited(operator, name, noted("{}")));
        try (KubernetesClient gateway = policies.gateway()) {
            granted(() -> edited(gateway, name, noted("{\"done\":true}")));
            refused(() -> edited(gateway, name, labelled("other")), LABEL);
            refused(() -> edited(gateway, name, sandbox -> sandbox.setSpec(SandboxSpec.DEFAULT)), SPEC);
            refused(() -> statusEdited(gateway), STATUS);
        }
    }
}
