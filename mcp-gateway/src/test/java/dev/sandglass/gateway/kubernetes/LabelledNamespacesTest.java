package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.gateway.testing.FakeOperator;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LabelledNamespacesTest {

    @RegisterExtension
    final MockApi server = new MockApi();

    private static final Duration SOON = Duration.ofSeconds(30);

    private static Namespace namespace(String name, String tenant, String created) {
        return new NamespaceBuilder()
                .withNewMetadata()
                .withName(name)
                .withCreationTimestamp(created)
                .addToLabels(SandboxLabels.TENANT, tenant)
                .endMetadata()
                .build();
    }

    @Test
    void ofSeveralThatClaimANameTheOldestHasIt() {
        List<Namespace> found = List.of(
                namespace("thief", "team", "2026-11-22T10:00:01Z"),
                namespace("first", "team", "2026-11-22T10:00:00Z"),
                namespace("b-same-second", "other", "2026-11-22T10:00:00Z"),
                namespace("a-same-second", "other", "2026-11-22T10:00:00Z"));

        assertThat(LabelledNamespaces.byTenant(found, null))
                .containsExactlyInAnyOrderEntriesOf(Map.of("team", "first", "other", "a-same-second"));
    }

    @Test
    void ourOwnNamespaceOneThatGoesAndOneWithoutAUsableNameAreNobodys() {
        Namespace going = namespace("going", "going", "2026-11-22T10:00:00Z");
        going.getMetadata().setDeletionTimestamp("2026-11-22T10:00:01Z");
        List<Namespace> found = List.of(
                namespace("sandglass-system", "mine", "2026-11-22T10:00:00Z"),
                namespace("empty", "", "2026-11-22T10:00:00Z"),
                going);

        assertThat(LabelledNamespaces.byTenant(found, "sandglass-system")).isEmpty();
    }

    @Test
    void namespacesAreFollowedAsTheyComeAndGoAndSandboxesOfAllAreKeptApart() {
        KubernetesClient client = server.client();
        try (var labelled = new LabelledNamespaces(client);
                var cache = new SandboxCache(client, List.of(SandboxCache.EVERYWHERE), gone -> {})) {
            FakeOperator.loadCrd(client);
            labelled.start();
            cache.start();
            await().atMost(SOON).until(() -> labelled.isSynced() && cache.isSynced("anywhere"));
            client.resource(namespace("ns-team", "team", "")).create();
            client.resource(sandbox("ns-team")).create();
            client.resource(sandbox("ns-else")).create();

            await().atMost(SOON).until(() -> labelled.get().equals(Map.of("team", "ns-team")));
            await().atMost(SOON).until(() -> cache.get("ns-else", "box").isPresent());
            Sandbox there = cache.get("ns-team", "box").orElseThrow();
            String uid = there.getMetadata().getUid();
            assertThat(cache.list("ns-team")).containsExactly(there);
            assertThat(cache.getByUid("ns-team", uid)).contains(there);
            assertThat(cache.getByUid("ns-else", uid)).isEmpty();

            client.namespaces().withName("ns-team").delete();

            await().atMost(SOON).until(() -> labelled.get().isEmpty());
        }
    }

    private static Sandbox sandbox(String namespace) {
        var sandbox = new Sandbox();
        sandbox.getMetadata().setName("box");
        sandbox.getMetadata().setNamespace(namespace);
        return sandbox;
    }
}
