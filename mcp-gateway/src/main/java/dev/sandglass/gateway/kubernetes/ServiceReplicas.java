package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ForeignText;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.discovery.v1.Endpoint;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointConditions;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The addresses of a Service's pods, from its EndpointSlices: no DNS, and no right on pods. */
public final class ServiceReplicas implements AutoCloseable {

    private static final int MAX_CAUSE_CHARS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(ServiceReplicas.class);
    private static final String SERVICE = "kubernetes.io/service-name";

    private final SharedIndexInformer<EndpointSlice> informer;
    private final String self;

    /**
     * Does not connect before {@link #start}.
     *
     * @param client closed by whoever made it
     * @param namespace of the installation
     * @param service whose pods are followed
     * @param self name of a pod that is left out
     * @param listener told all addresses whenever they change
     */
    public ServiceReplicas(
            KubernetesClient client, String namespace, String service, String self, Consumer<Set<String>> listener) {
        this.self = self;
        informer = client.discovery()
                .v1()
                .endpointSlices()
                .inNamespace(namespace)
                .withLabel(SERVICE, service)
                .runnableInformer(0)
                .exceptionHandler((started, problem) -> {
                    LOG.atWarn()
                            .addKeyValue(
                                    "cause", ForeignText.line(String.valueOf(problem.getMessage()), MAX_CAUSE_CHARS))
                            .addKeyValue("service", service)
                            .log("Watching the replicas of a Service failed, trying again");
                    return true;
                });
        informer.addEventHandler(new Handler(
                () -> listener.accept(addresses(informer.getIndexer().list(), self))));
    }

    /**
     * Tells besides the names of the pods that serve, whenever anything changes; to be called before {@link #start}.
     *
     * @param listener told all names but that of the pod that is left out
     */
    public ServiceReplicas telling(Consumer<Set<String>> listener) {
        informer.addEventHandler(
                new Handler(() -> listener.accept(serving(informer.getIndexer().list(), self))));
        return this;
    }

    /** Starts to follow the replicas; returns at once. */
    public void start() {
        informer.start();
    }

    /** One address of each pod, ready or not: one that is going down may still have something to tell. */
    static Set<String> addresses(Collection<EndpointSlice> slices, String self) {
        Map<String, String> byPod = new LinkedHashMap<>();
        slices.stream()
                .filter(slice -> !"FQDN".equals(slice.getAddressType()))
                .sorted(Comparator.comparing(EndpointSlice::getAddressType))
                .flatMap(slice -> slice.getEndpoints().stream())
                .filter(endpoint -> !endpoint.getAddresses().isEmpty() && !isNamed(endpoint, self))
                .forEach(endpoint ->
                        byPod.putIfAbsent(pod(endpoint), endpoint.getAddresses().getFirst()));
        return new HashSet<>(byPod.values());
    }

    /** The name of each pod that is ready, or of which that is not known; one that is going down serves no more. */
    static Set<String> serving(Collection<EndpointSlice> slices, String self) {
        return slices.stream()
                .flatMap(slice -> slice.getEndpoints().stream())
                .filter(endpoint -> !isNamed(endpoint, self) && isServing(endpoint.getConditions()))
                .flatMap(endpoint -> Stream.ofNullable(endpoint.getTargetRef()))
                .flatMap(pod -> Stream.ofNullable(pod.getName()))
                .collect(Collectors.toSet());
    }

    private static boolean isServing(@Nullable EndpointConditions conditions) {
        return conditions == null
                || (!Boolean.FALSE.equals(conditions.getReady()) && !Boolean.TRUE.equals(conditions.getTerminating()));
    }

    /** Of two families a pod has an endpoint in each. */
    private static String pod(Endpoint endpoint) {
        ObjectReference pod = endpoint.getTargetRef();
        return pod == null || pod.getUid() == null ? endpoint.getAddresses().getFirst() : pod.getUid();
    }

    private static boolean isNamed(Endpoint endpoint, String name) {
        ObjectReference pod = endpoint.getTargetRef();
        return pod != null && name.equals(pod.getName());
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
