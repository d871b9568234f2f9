package dev.sandglass.egress.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
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
        // Only with the definition does the double know that watches of this resource concern it.
        client.load(Sandbox.class.getResourceAsStream("/META-INF/fabric8/sandboxes.sandglass.dev-v1.yml"))
                .create();
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

    private MixedOperation<GenericKubernetesResource, ?, Resource<GenericKubernetesResource>> sandboxes() {
        return client.genericKubernetesResources(ResourceDefinitionContext.fromResourceType(Sandbox.class));
    }

    /** Writes a sandbox; its UID is the server's choice. */
    private void sandbox(String namespace, String name, Object... allowedDomains) {
        write(namespace, name, Map.of("allowedDomains", List.of(allowedDomains)));
    }

    private void write(String namespace, String name, Map<String, Object> spec) {
        GenericKubernetesResource resource = new GenericKubernetesResource();
        resource.setApiVersion(Sandbox.GROUP + "/" + Sandbox.VERSION);
        resource.setKind("Sandbox");
        resource.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
        resource.setAdditionalProperty("spec", spec);
        GenericKubernetesResource written =
                sandboxes().inNamespace(namespace).resource(resource).createOr(NonDeletingOperation::update);
        uids.put(name, written.getMetadata().getUid());
    }

    private String uid(String sandbox) {
        return uids.getOrDefault(sandbox, "none");
    }

    private PodBuilder pod(String namespace, String name, String owner) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                .addNewOwnerReference()
                .withApiVersion(Sandbox.GROUP + "/" + Sandbox.VERSION)
                .withKind("Sandbox")
                .withName(owner)
                .withUid(uid(owner))
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .withPhase("Running")
                .withPodIP(ADDRESS.toString())
                .addNewPodIP(ADDRESS.toString())
                .endStatus();
    }

    private Pod create(Pod pod) {
        return client.pods()
                .inNamespace(pod.getMetadata().getNamespace())
                .resource(pod)
                .create();
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
        create(pod(NAMESPACE, "pod-1", "one").build());
        isThere("one");
        assertThat(clients.at(ADDRESS))
                .hasValue(new Client(uid("one"), NAMESPACE, "one", EgressRules.parse(List.of("example.com"))));
        assertThat(clients.knows(uid("one"))).isTrue();
        assertThat(clients.at(IpAddress.parse("10.244.0.8"))).isEmpty();
        await().untilAsserted(() -> assertThat(told).contains(uid("one")));
    }

    @Test
    void anotherListCountsAndIsTold() {
        sandbox(NAMESPACE, "one", "example.com", "*");
        create(pod(NAMESPACE, "pod-1", "one").build());
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
        create(pod(NAMESPACE, "pod-1", "one").build());
        isThere("one");
        assertThat(rulesThere()).isEqualTo(EgressRules.NONE);
        try (SandboxClients permitting = new SandboxClients(client, List.of(NAMESPACE), true, DefaultDomains.NONE)) {
            permitting.start();
            await().untilAsserted(() ->
                    assertThat(permitting.at(ADDRESS).map(Client::rules)).hasValue(EgressRules.parse(List.of("*"))));
        }
    }

    @Test
    void theInstallationsListCountsForASandboxThatHasNoneAndForNoOther() {
        DefaultDomains defaults = new DefaultDomains(List.of("example.com"));
        try (SandboxClients known = new SandboxClients(client, List.of(NAMESPACE), false, defaults)) {
            known.start();
            write(NAMESPACE, "one", Map.of());
            create(pod(NAMESPACE, "pod-1", "one").build());
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

    @Test
    void aPodThatEndedIsNobody() {
        sandbox(NAMESPACE, "one", "example.com");
        Pod pod = create(pod(NAMESPACE, "pod-1", "one").build());
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

    @Test
    void aPodThatIsDeletedOrWhoseSandboxIsDeletedIsNobody() {
        sandbox(NAMESPACE, "one", "example.com");
        create(pod(NAMESPACE, "pod-1", "one").build());
        isThere("one");
        client.pods().inNamespace(NAMESPACE).withName("pod-1").delete();
        nobodyIsThere();
        create(pod(NAMESPACE, "pod-2", "one").build());
        isThere("one");
        sandboxes().inNamespace(NAMESPACE).withName("one").delete();
        nobodyIsThere();
        await().untilAsserted(() -> assertThat(clients.knows(uid("one"))).isFalse());
    }

    @Test
    void twoAtOneAddressAreNobody() {
        sandbox(NAMESPACE, "one", "example.com");
        sandbox(NAMESPACE, "two", "other.example");
        create(pod(NAMESPACE, "pod-1", "one").build());
        isThere("one");
        create(pod(NAMESPACE, "pod-2", "two").build());
        nobodyIsThere();
        client.pods().inNamespace(NAMESPACE).withName("pod-1").delete();
        isThere("two");
    }

    @Test
    void aReferenceToASandboxOfAnotherNamespaceIsNone() {
        sandbox(NAMESPACE, "one", "example.com");
        create(pod("other", "forged", "one").build());
        create(pod("other", "plain", "one")
                .editStatus()
                .withPodIPs(List.of())
                .addNewPodIP("10.244.0.9")
                .endStatus()
                .build());
        sandbox("other", "three", "example.com");
        create(pod("other", "good", "three")
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
        assertThat(PodOwner.addresses(pod(NAMESPACE, "pod", "one").build())).containsExactly("10.244.0.7");
        assertThat(PodOwner.addresses(pod(NAMESPACE, "pod", "one")
                        .editStatus()
                        .withPhase("Succeeded")
                        .endStatus()
                        .build()))
                .isEmpty();
        assertThat(PodOwner.addresses(pod(NAMESPACE, "pod", "one")
                        .editMetadata()
                        .withDeletionTimestamp("2026-01-01T00:00:00Z")
                        .endMetadata()
                        .build()))
                .isEmpty();
        assertThat(PodOwner.addresses(pod(NAMESPACE, "pod", "one")
                        .editSpec()
                        .withHostNetwork(true)
                        .endSpec()
                        .build()))
                .isEmpty();
    }
}
