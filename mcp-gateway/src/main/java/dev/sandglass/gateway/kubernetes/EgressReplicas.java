package dev.sandglass.gateway.kubernetes;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The addresses of the egress proxy's pods, from the EndpointSlices of its Service: no DNS, and no right on pods. */
public final class EgressReplicas implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EgressReplicas.class);
    private static final String SERVICE = "kubernetes.io/service-name";

    private final SharedIndexInformer<EndpointSlice> informer;

    /**
     * Does not connect before {@link #start}.
     *
     * @param client closed by whoever made it
     * @param namespace of the installation
     * @param service the egress proxy's
     * @param listener told all addresses whenever they change
     */
    public EgressReplicas(KubernetesClient client, String namespace, String service, Consumer<Set<String>> listener) {
        informer = client.discovery()
                .v1()
                .endpointSlices()
                .inNamespace(namespace)
                .withLabel(SERVICE, service)
                .runnableInformer(0)
                .exceptionHandler((started, problem) -> {
                    LOG.atWarn()
                            .addKeyValue("cause", String.valueOf(problem.getMessage()))
                            .log("Watching the egress proxy's replicas failed, trying again");
                    return true;
                });
        informer.addEventHandler(new Handler(
                () -> listener.accept(addresses(informer.getIndexer().list()))));
    }

    /** Starts to follow the replicas; returns at once. */
    public void start() {
        informer.start();
    }

    /** One address of each pod, ready or not: one that is going down may still have something to tell. */
    static Set<String> addresses(Collection<EndpointSlice> slices) {
        Map<String, String> byPod = new LinkedHashMap<>();
        slices.stream()
                .filter(slice -> !"FQDN".equals(slice.getAddressType()))
                .sorted(Comparator.comparing(EndpointSlice::getAddressType))
                .flatMap(slice -> slice.getEndpoints().stream())
                .filter(endpoint -> !endpoint.getAddresses().isEmpty())
                .forEach(endpoint ->
                        byPod.putIfAbsent(pod(endpoint), endpoint.getAddresses().getFirst()));
        return new HashSet<>(byPod.values());
    }

    /** Of two families a pod has an endpoint in each. */
    private static String pod(Endpoint endpoint) {
        ObjectReference pod = endpoint.getTargetRef();
        return pod == null || pod.getUid() == null ? endpoint.getAddresses().getFirst() : pod.getUid();
    }

    @Override
    public void close() {
        informer.stop();
    }

    /** Whatever happens, everything is looked at again: it is rare. */
    private record Handler(Runnable again) implements ResourceEventHandler<EndpointSlice> {

        @Override
        public void onAdd(EndpointSlice added) {
            again.run();
        }

        @Override
        public void onUpdate(EndpointSlice before, EndpointSlice now) {
            again.run();
        }

        @Override
        public void onDelete(EndpointSlice deleted, boolean finalStateUnknown) {
            again.run();
        }
    }
}
