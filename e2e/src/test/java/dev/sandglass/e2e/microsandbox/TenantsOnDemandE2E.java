package dev.sandglass.e2e.microsandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.FreshSandboxes;
import dev.sandglass.e2e.support.GrantedKey;
import dev.sandglass.e2e.support.Installation;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Row M44: any namespace is made by the first start in it, for callers of all tenants, and by no other way. */
class TenantsOnDemandE2E {

    private static final Installation INSTALLATION = Installation.current();
    private static final String PREFIX = "sandglass-tenant-";
    private static final String NOT_ITS_NAME = "whose name belongs to the tenant of their label";
    private static final String NAME = "e2e-" + GrantedKey.random(3);

    private static KubernetesClient kubernetes;
    private static @Nullable GrantedKey key;

    @BeforeAll
    static void grant() {
        kubernetes = INSTALLATION.kubernetes();
        boolean onDemand = kubernetes
                .apps()
                .deployments()
                .inNamespace(Installation.NAMESPACE)
                .withName("sandglass-gateway")
                .get()
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .stream()
                .flatMap(container -> container.getEnv().stream())
                .anyMatch(variable -> variable.getName().equals("GATEWAY_TENANTS_ON_DEMAND"));
        assumeTrue(onDemand, "the installation makes no tenants");
        key = GrantedKey.ofAllTenants(kubernetes, NAME);
    }

    @AfterAll
    static void takeBack() {
        if (key != null) {
            key.close();
        }
        kubernetes.namespaces().withName(PREFIX + NAME).delete();
        kubernetes.close();
    }

    private static Agent ofAll() {
        return Optional.ofNullable(key).orElseThrow().agent(INSTALLATION);
    }

    @Test
    void aStartMakesTheNamespaceAndCodeRunsThere() {
        try (Agent agent = ofAll()) {
            Map<String, Object> box = Map.of("sandbox", "box", "namespace", NAME);
            assertThat(agent.refusal("sandbox_run_code", Map.of("sandbox", "box", "namespace", NAME, "code", "1")))
                    .contains(
                            "Namespace '" + NAME + "' does not exist", "A start of a sandbox in it, at /mcp, makes it");

            assertThat(FreshSandboxes.broughtUp(() -> agent.call("sandbox_start", box))
                            .text())
                    .isEqualTo("Sandbox box started successfully");

            assertThat(agent.call("sandbox_run_code", Map.of("sandbox", "box", "namespace", NAME, "code", "6 * 7"))
                            .text())
                    .isEqualTo("42");
            Namespace made = kubernetes.namespaces().withName(PREFIX + NAME).get();
            assertThat(made.getMetadata().getLabels())
                    .containsEntry("sandglass.dev/tenant", NAME)
                    .containsEntry("pod-security.kubernetes.io/enforce", "restricted");
            assertThat(kubernetes
                            .network()
                            .v1()
                            .networkPolicies()
                            .inNamespace(PREFIX + NAME)
                            .list()
                            .getItems())
                    .extracting(policy -> policy.getMetadata().getName())
                    .contains("sandglass-default-deny", "sandglass-access");
            agent.call("sandbox_stop", Map.of("sandbox", "box", "namespace", NAME, "delete", true));
        }
    }

    @Test
    void aCallerOfSomeTenantsMakesNone() {
        try (Agent agent = INSTALLATION.agent()) {
            assertThat(agent.refusal("sandbox_start", Map.of("sandbox", "box", "namespace", NAME + "-other")))
                    .contains("does not exist")
                    .doesNotContain("makes it", "administrator");
        }
        assertThat(kubernetes.namespaces().withName(PREFIX + NAME + "-other").get())
                .isNull();
    }

    /** With every right of the cluster beside its own, so that no role answers in the policy's place. */
    private static KubernetesClient gateway() {
        Config config = new ConfigBuilder(kubernetes.getConfiguration())
                .withImpersonateUsername("system:serviceaccount:" + Installation.NAMESPACE + ":sandglass-gateway")
                .withImpersonateGroups("system:masters", "system:authenticated")
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    private static NamespaceBuilder tenant() {
        return new NamespaceBuilder()
                .withNewMetadata()
                .withName(PREFIX + NAME + "-dry")
                .addToLabels("sandglass.dev/tenant", NAME + "-dry")
                .addToLabels("app.kubernetes.io/managed-by", "sandglass-gateway")
                .addToLabels("pod-security.kubernetes.io/enforce", "restricted")
                .addToLabels("pod-security.kubernetes.io/enforce-version", "latest")
                .endMetadata();
    }

    private static void create(Namespace namespace) {
        try (KubernetesClient gateway = gateway()) {
            gateway.resource(namespace).dryRun(true).create();
        }
    }

    @Test
    void theGatewaysAccountMakesWhatATenantNeeds() {
        create(tenant().build());
    }

    /** The digest of a mapped name is beyond a policy; what stands before it is not. */
    @ParameterizedTest
    @CsvSource({
        "Some_Team, some-team-x0123456789",
        "team-x0123456789, team-x0123456789-x9876543210",
    })
    void aMappedNameBelongsToItsLabelToo(String label, String name) {
        create(named(label, name));
        assertThatThrownBy(() -> create(named(label, "other-x0123456789"))).hasMessageContaining(NOT_ITS_NAME);
        assertThatThrownBy(() -> create(named(label, name.substring(0, name.length() - 1))))
                .hasMessageContaining(NOT_ITS_NAME);
    }

    private static Namespace named(String label, String name) {
        return tenant().editMetadata()
                .withName(PREFIX + name)
                .addToLabels("sandglass.dev/tenant", label)
                .endMetadata()
                .build();
    }

    @ParameterizedTest
    @CsvSource({
        "name, begins with sandglass-tenant-",
        "another, whose name belongs to the tenant of their label",
        "label, with the labels of a tenant and Pod Security restricted",
        "privileged, with the labels of a tenant and Pod Security restricted",
        "untenanted, with the labels of a tenant and Pod Security restricted",
        "annotation, 'without annotations, owners and finalizers'",
        "finalizer, 'without annotations, owners and finalizers'",
        "its finalizer, 'without annotations, owners and finalizers'",
    })
    void andNothingElse(String attack, String words) {
        NamespaceBuilder namespace = tenant();
        switch (attack) {
            case "name" -> namespace.editMetadata().withName("kube-" + NAME).endMetadata();
            case "another" ->
                namespace
                        .editMetadata()
                        .addToLabels("sandglass.dev/tenant", NAME)
                        .endMetadata();
            case "its finalizer" ->
                namespace.withNewSpec().addToFinalizers("example.com/a").endSpec();
            case "label" ->
                namespace.editMetadata().addToLabels("example.com/a", "b").endMetadata();
            case "privileged" ->
                namespace
                        .editMetadata()
                        .addToLabels("pod-security.kubernetes.io/enforce", "privileged")
                        .endMetadata();
            case "untenanted" ->
                namespace
                        .editMetadata()
                        .removeFromLabels("sandglass.dev/tenant")
                        .endMetadata();
            case "annotation" ->
                namespace.editMetadata().addToAnnotations("example.com/a", "b").endMetadata();
            default -> namespace.editMetadata().addToFinalizers("example.com/a").endMetadata();
        }

        assertThatThrownBy(() -> create(namespace.build()))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessageContaining(words);
    }

    @Test
    void itAltersAndDeletesNone() {
        try (KubernetesClient gateway = gateway()) {
            var present = gateway.namespaces().withName("sandglass-default");
            assertThat(Optional.ofNullable(present.get())).isPresent();

            assertThatThrownBy(() -> present.dryRun(true).edit(namespace -> new NamespaceBuilder(namespace)
                            .editMetadata()
                            .addToLabels("example.com/a", "b")
                            .endMetadata()
                            .build()))
                    .hasMessageContaining("neither alter nor delete any");
            assertThatThrownBy(() -> present.dryRun(true).delete())
                    .hasMessageContaining("neither alter nor delete any");
        }
    }
}
