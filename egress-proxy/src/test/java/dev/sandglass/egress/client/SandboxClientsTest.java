package dev.sandglass.egress.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.egress.testing.TenantObjects;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who is at an address, as pods and sandboxes come, change and go. */
class SandboxClientsTest {

    private static final String NAMESPACE = "tenant";
    private static final IpAddress ADDRESS = IpAddress.parse("10.244.0.7");

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();
    private SandboxClients clients;
    private final Map<String, String> uids = new HashMap<>();
    private final List<String> told = new CopyOnWriteArrayList<>();

    @BeforeEach
    void watch() {
        TenantObjects.define(client);
        clients = new SandboxClients(client, List.of(NAMESPACE, "other"), false, DefaultDomains.NONE);
        clients.onChange(told::add);
        assertThat(clients.isSynced()).isFalse();
        clients.start();
        await().until(clients::isSynced);
    }

    @AfterEach
    void close() {
        clients.close();
    }

    private static TenantObjects in(String namespace, KubernetesClient client) {
        return new TenantObjects(client, namespace);
    }

    private void sandbox(String namespace, String name, Object... allowedDomains) {
        write(namespace, name, Map.of("allowedDomains", List.of(allowedDomains)));
    }

    private void write(String namespace, String name, Map<String, Object> spec) {
        uids.put(name, in(namespace, client).sandbox(name, spec));
    }

    private String uid(String sandbox) {
        return uids.getOrDefault(sandbox, "none");
    }

    private PodBuilder pod(String namespace, int incarnation, String owner) {
        return in(namespace, client).pod(owner, uid(owner), incarnation, ADDRESS.toString());
    }

    private Pod create(Pod pod) {
        return in(pod.getMetadata().getNamespace(), client).write(pod);
    }

    private Optional<String> nameThere() {
        return clients.at(ADDRESS).map(Client::sandbox);
    }

    private EgressRules rulesThere() {
        return clients.at(ADDRESS).map(Client::rules).orElse(EgressRules.NONE);
    }

    private void isThere(String name) {
        await().untilAsserted(() -> assertThat(nameThere()).hasValue(name));
    }

    private void nobodyIsThere() {
        await().untilAsserted(() -> assertThat(nameThere()).isEmpty());
    }

    @Test
    void aPodAndItsSandbox() {
        sandbox(NAMESPACE, "one", "example.com");
        assertThat(nameThere()).isEmpty();
        create(pod(NAMESPACE, 1, "one").build());
        isThere("one");
        assertThat(clients.at(ADDRESS))
                .hasValue(new Client(
                        uid("one"), uid("one"), NAMESPACE, "one", EgressRules.parse(List.of("example.com"))));
        assertThat(clients.knows(uid("one"))).isTrue();
        assertThat(clients.at(IpAddress.parse("10.244.0.8"))).isEmpty();
        await().untilAsserted(() -> assertThat(told).contains(uid("one")));
    }

    @Test
    void anotherListCountsAndIsTold() {
        sandbox(NAMESPACE, "one", "example.com", "*");
        create(pod(NAMESPACE, 1, "one").build());
        isThere("one");
        assertThat(rulesThere()).isEqualTo(EgressRules.parse(List.of("example.com")));
        told.clear();
        sandbox(NAMESPACE, "one", "other.example");
        await().untilAsserted(() -> assertThat(rulesThere()).isEqualTo(EgressRules.parse(List.of("other.example"))));
        await().untilAsserted(() -> assertThat(told).contains(uid("one")));
        sandbox(NAMESPACE, "one", "other.example", "http://bad");
        await().untilAsserted(() -> assertThat(rulesThere()).isEqualTo(EgressRules.NONE));
        sandbox(NAMESPACE, "one", "other.example");
        await().untilAsserted(() -> assertThat(rulesThere()).isEqualTo(EgressRules.parse(List.of("other.example"))));
    }

    @Test
    void openCountsWhereItIsPermitted() {
        sandbox(NAMESPACE, "one", "*");
        create(pod(NAMESPACE, 1, "one").build());
        isThere("one");
        assertThat(rulesThere()).isEqualTo(EgressRules.NONE);
        try (SandboxClients permitting = new SandboxClients(client, List.of(NAMESPACE), true, DefaultDomains.NONE)) {
            permitting.start();
            await().untilAsserted(() ->
                    assertThat(permitting.at(ADDRESS).map(Client::rules)).hasValue(EgressRules.parse(List.of("*"))));
        }
    }

    @Tag("slow")
    @Test
    void theInstallationsListCountsForASandboxThatHasNoneAndForNoOther() {
        DefaultDomains defaults = new DefaultDomains(List.of("example.com"));
        try (SandboxClients known = new SandboxClients(client, List.of(NAMESPACE), false, defaults)) {
            known.start();
            write(NAMESPACE, "one", Map.of());
            create(pod(NAMESPACE, 1, "one").build());
            await().untilAsserted(() -> assertThat(rulesAt(known)).hasValue(defaults.rules()));
            isThere("one");
            assertThat(rulesThere()).as("where the installation says nothing").isEqualTo(EgressRules.NONE);
            sandbox(NAMESPACE, "one");
            await().untilAsserted(() -> assertThat(rulesAt(known)).hasValue(EgressRules.NONE));
            sandbox(NAMESPACE, "one", "other.example");
            await().untilAsserted(
                            () -> assertThat(rulesAt(known)).hasValue(EgressRules.parse(List.of("other.example"))));
            write(NAMESPACE, "one", Map.of("allowedDomains", "example.com"));
            await().untilAsserted(() -> assertThat(rulesAt(known)).hasValue(EgressRules.NONE));
        }
    }

    private static Optional<EgressRules> rulesAt(SandboxClients clients) {
        return clients.at(ADDRESS).map(Client::rules);
    }

    @Tag("slow")
    @Test
    void aPodThatEndedIsNobody() {
        sandbox(NAMESPACE, "one", "example.com");
        Pod pod = create(pod(NAMESPACE, 1, "one").build());
        isThere("one");
        client.pods()
                .inNamespace(NAMESPACE)
                .resource(new PodBuilder(pod)
                        .editStatus()
                        .withPhase("Failed")
                        .endStatus()
                        .build())
                .update();
        nobodyIsThere();
    }

    @Tag("slow")
    @Test
    void aPodThatIsDeletedOrWhoseSandboxIsDeletedIsNobody() {
        sandbox(NAMESPACE, "one", "example.com");
        Pod first = create(pod(NAMESPACE, 1, "one").build());
        isThere("one");
        in(NAMESPACE, client).delete(first);
        nobodyIsThere();
        create(pod(NAMESPACE, 2, "one").build());
        isThere("one");
        in(NAMESPACE, client).delete("one");
        nobodyIsThere();
        await().untilAsserted(() -> assertThat(clients.knows(uid("one"))).isFalse());
    }

    @Test
    void twoAtOneAddressAreNobody() {
        sandbox(NAMESPACE, "one", "example.com");
        sandbox(NAMESPACE, "two", "other.example");
        Pod first = create(pod(NAMESPACE, 1, "one").build());
        isThere("one");
        create(pod(NAMESPACE, 2, "two").build());
        nobodyIsThere();
        in(NAMESPACE, client).delete(first);
        isThere("two");
    }

    @Tag("slow")
    @Test
    void aReferenceToASandboxOfAnotherNamespaceIsNone() {
        sandbox(NAMESPACE, "one", "example.com");
        create(pod("other", 1, "one").build());
        create(pod("other", 2, "one")
                .editStatus()
                .withPodIPs(List.of())
                .addNewPodIP("10.244.0.9")
                .endStatus()
                .build());
        sandbox("other", "three", "example.com");
        create(pod("other", 3, "three")
                .editStatus()
                .withPodIPs(List.of())
                .addNewPodIP("10.244.0.10")
                .endStatus()
                .build());
        await().untilAsserted(() ->
                assertThat(clients.at(IpAddress.parse("10.244.0.10"))).isPresent());
        assertThat(clients.at(ADDRESS)).isEmpty();
        assertThat(clients.at(IpAddress.parse("10.244.0.9"))).isEmpty();
    }

    @Test
    void podsThatMayNotUseTheProxy() {
        assertThat(PodOwner.addresses(pod(NAMESPACE, 1, "one").build())).containsExactly("10.244.0.7");
        assertThat(PodOwner.addresses(pod(NAMESPACE, 1, "one")
                        .editStatus()
                        .withPhase("Succeeded")
                        .endStatus()
                        .build()))
                .isEmpty();
        assertThat(PodOwner.addresses(pod(NAMESPACE, 1, "one")
                        .editMetadata()
                        .withDeletionTimestamp("2026-01-01T00:00:00Z")
                        .endMetadata()
                        .build()))
                .isEmpty();
        assertThat(PodOwner.addresses(pod(NAMESPACE, 1, "one")
                        .editSpec()
                        .withHostNetwork(true)
                        .endSpec()
                        .build()))
                .isEmpty();
    }
}
