package dev.sandglass.gateway.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sandglass.testing.MockApi;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSliceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Where the replicas of a Service are. */
class ServiceReplicasTest {

    @RegisterExtension
    final MockApi api = new MockApi();

    private final KubernetesClient client = api.client();

    private static EndpointSlice slice(String type, String service, String pod, String... addresses) {
        return new EndpointSliceBuilder()
                .withNewMetadata()
                .withNamespace("sandglass")
                .withName(service + "-" + type.toLowerCase(java.util.Locale.ROOT))
                .addToLabels("kubernetes.io/service-name", service)
                .endMetadata()
                .withAddressType(type)
                .addNewEndpoint()
                .withAddresses(addresses)
                .withNewTargetRef()
                .withUid(pod)
                .withName("pod-" + pod)
                .endTargetRef()
                .endEndpoint()
                .build();
    }

    @Test
    void oneAddressOfEachPod() {
        assertThat(ServiceReplicas.addresses(
                        List.of(
                                slice("IPv6", "egress", "a", "fd00::1"),
                                slice("IPv4", "egress", "a", "10.0.0.1"),
                                slice("IPv4", "egress", "b", "10.0.0.2"),
                                slice("IPv4", "egress", "c"),
                                slice("FQDN", "egress", "d", "egress.example"),
                                slice("IPv4", "egress", "e", "10.0.0.5")),
                        "pod-e"))
                .containsExactlyInAnyOrder("10.0.0.1", "10.0.0.2");
    }

    private static EndpointSlice slice(String pod, @Nullable Boolean ready, @Nullable Boolean terminating) {
        return new EndpointSliceBuilder(slice("IPv4", "gateway", pod, "10.0.0.7"))
                .editFirstEndpoint()
                .withNewConditions()
                .withReady(ready)
                .withServing(true)
                .withTerminating(terminating)
                .endConditions()
                .endEndpoint()
                .build();
    }

    @Test
    void thoseThatServeAreReadyAndNotOnTheirWayDown() {
        assertThat(ServiceReplicas.serving(
                        List.of(
                                slice("IPv4", "gateway", "untold", "10.0.0.1"),
                                slice("IPv6", "gateway", "untold", "fd00::1"),
                                slice("ready", true, null),
                                slice("stays", true, false),
                                slice("begins", false, null),
                                slice("drains", false, true),
                                slice("published", true, true),
                                slice("self", true, null)),
                        "pod-self"))
                .containsExactlyInAnyOrder("pod-untold", "pod-ready", "pod-stays");
    }

    @Test
    void tellsBesidesThoseThatServe() {
        AtomicReference<Set<String>> addresses = new AtomicReference<>(Set.of());
        AtomicReference<Set<String>> serving = new AtomicReference<>(Set.of());
        client.resource(slice("a", true, null)).create();
        try (ServiceReplicas replicas =
                new ServiceReplicas(client, "sandglass", "gateway", "pod-self", addresses::set).telling(serving::set)) {
            replicas.start();
            await().untilAsserted(() -> assertThat(serving.get()).containsExactly("pod-a"));
            client.resource(slice("a", false, true)).update();
            await().untilAsserted(() -> assertThat(serving.get()).isEmpty());
            assertThat(addresses.get()).containsExactly("10.0.0.7");
        }
    }

    @Test
    void followsThoseOfTheService() {
        AtomicReference<Set<String>> now = new AtomicReference<>(Set.of());
        client.resource(slice("IPv4", "other", "x", "10.0.0.9")).create();
        client.resource(slice("IPv4", "egress", "a", "10.0.0.1")).create();
        try (ServiceReplicas replicas = new ServiceReplicas(client, "sandglass", "egress", "pod-self", now::set)) {
            replicas.start();
            await().untilAsserted(() -> assertThat(now.get()).containsExactly("10.0.0.1"));
            client.resource(slice("IPv4", "egress", "b", "10.0.0.2")).update();
            await().untilAsserted(() -> assertThat(now.get()).containsExactly("10.0.0.2"));
            client.resource(slice("IPv4", "egress", "b", "10.0.0.2")).delete();
            await().untilAsserted(() -> assertThat(now.get()).isEmpty());
        }
    }
}
