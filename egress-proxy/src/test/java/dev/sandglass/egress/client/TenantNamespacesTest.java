package dev.sandglass.egress.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whose sandboxes count, as namespaces get and lose the label. */
class TenantNamespacesTest {

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    private void label(String namespace, Map<String, String> labels) {
        Namespace written = new NamespaceBuilder()
                .withNewMetadata()
                .withName(namespace)
                .withLabels(labels)
                .endMetadata()
                .build();
        client.resource(written).createOr(NonDeletingOperation::update);
    }

    @Test
    void byNameNoLabelCounts() {
        label("labelled", Map.of(SandboxLabels.TENANT, "team"));
        TenantNamespaces tenants = TenantNamespaces.named(List.of("named"));
        tenants.start();

        assertThat(tenants.isSynced()).isTrue();
        assertThat(tenants.has("named")).isTrue();
        assertThat(tenants.has("labelled")).isFalse();
    }

    @Test
    void aNamespaceCountsAsLongAsItCarriesTheLabel() {
        List<String> told = new CopyOnWriteArrayList<>();
        try (TenantNamespaces tenants = TenantNamespaces.byLabel(List.of("named"), client)) {
            tenants.onChange(told::add);
            assertThat(tenants.isSynced()).isFalse();
            tenants.start();
            await().until(tenants::isSynced);
            assertThat(tenants.has("named")).isTrue();
            assertThat(tenants.has("team")).isFalse();

            label("team", Map.of(SandboxLabels.TENANT, "team"));
            await().until(() -> tenants.has("team"));
            label("team", Map.of("other", "label"));
            await().until(() -> !tenants.has("team"));
            assertThat(told).contains("team").doesNotContain("named");
        }
    }
}
