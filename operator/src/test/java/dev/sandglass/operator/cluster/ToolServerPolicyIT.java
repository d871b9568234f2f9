package dev.sandglass.operator.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.TestNamespace;
import dev.sandglass.operator.child.ToolServerChild;
import dev.sandglass.operator.toolserver.Servers;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBindingBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The chart's admission policies about tool servers, as rendered, before a real API server: each attack succeeds without
 * them. Administrators attack; the operator's account has their rights here, so that nothing but a policy refuses it.
 */
class ToolServerPolicyIT {

    private static final Path CHART = Path.of("../helm/tests/golden/default.yaml");
    private static final String LABEL =
            "only the Sandglass operator may set, change or remove sandglass.dev/tool-server";
    private static final String ORDINARY = "may write only Sandboxes of tool servers";

    private static final String ACCOUNT = "system:serviceaccount:sandglass-system:sandglass-operator";

    private TestNamespace namespace;
    private KubernetesClient operator;
    private SandboxToolServer server;

    @BeforeEach
    void prepare() {
        namespace = new TestNamespace();
        operator = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(namespace.admin.getConfiguration())
                        .withImpersonateUsername(ownAccount())
                        .withImpersonateGroups("system:masters")
                        .build())
                .build();
        server = Servers.stdio();
        server.getMetadata().setNamespace(namespace.name);
        server.getMetadata().setUid(null);
        // Garbage collection takes a child whose owner is not there.
        server = namespace.admin.resource(server).create();
    }

    /** Not that of an installation in this cluster: its policies would have their say too. */
    private String ownAccount() {
        return "system:serviceaccount:" + namespace.name + ":sandglass-operator";
    }

    @AfterEach
    void cleanUp() {
        policies().forEach(policy -> {
            namespace
                    .admin
                    .admissionRegistration()
                    .v1()
                    .validatingAdmissionPolicyBindings()
                    .withName(own(policy))
                    .delete();
            namespace
                    .admin
                    .admissionRegistration()
                    .v1()
                    .validatingAdmissionPolicies()
                    .withName(own(policy))
                    .delete();
        });
        operator.close();
        namespace.close();
    }

    private Stream<ValidatingAdmissionPolicy> policies() {
        try {
            return Arrays.stream(Files.readString(CHART).split("\n---\n"))
                    .filter(document -> document.contains("\nkind: ValidatingAdmissionPolicy\n"))
                    .map(document -> namespace
                            .admin
                            .getKubernetesSerialization()
                            .unmarshal(document, ValidatingAdmissionPolicy.class))
                    .filter(policy ->
                            policy.getMetadata().getName().matches(".*-sandglass-(tool-servers|operator|status)"))
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private String own(HasMetadata policy) {
        return namespace.name + "-" + policy.getMetadata().getName();
    }

    /** Has the policies hold in this namespace, and waits until they do: the API server reads them a moment later. */
    private void install() {
        List<ValidatingAdmissionPolicy> all = policies().toList();
        assertThat(all).hasSize(3);
        for (ValidatingAdmissionPolicy policy : all) {
            String name = own(policy);
            policy.getMetadata().setName(name);
            policy.getSpec().getMatchConditions().forEach(match -> match.setExpression(here(match.getExpression())));
            policy.getSpec().getValidations().forEach(rule -> rule.setExpression(here(rule.getExpression())));
            namespace.admin.resource(policy).create();
            namespace
                    .admin
                    .resource(new ValidatingAdmissionPolicyBindingBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .endMetadata()
                            .withNewSpec()
                            .withPolicyName(name)
                            .withValidationActions("Deny")
                            .withNewMatchResources()
                            .withNamespaceSelector(new LabelSelectorBuilder()
                                    .addToMatchLabels("kubernetes.io/metadata.name", namespace.name)
                                    .build())
                            .endMatchResources()
                            .endSpec()
                            .build())
                    .create();
        }
        await("the policies").atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            refused(() -> tried(namespace.admin, child(made -> {})), LABEL);
            refused(() -> tried(operator, ordinary("some")), ORDINARY);
        });
    }

    /** With the tenant and the operator's account of this test instead of the chart's. */
    private String here(String expression) {
        return expression
                .replace("\"sandglass-default\"", "\"" + namespace.name + "\"")
                .replace(ACCOUNT, ownAccount());
    }

    private static void refused(Callable<?> attack, String words) {
        assertThatThrownBy(attack::call)
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining(words);
    }

    private static void granted(Callable<?> control) {
        assertThatCode(control::call).doesNotThrowAnyException();
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
}
