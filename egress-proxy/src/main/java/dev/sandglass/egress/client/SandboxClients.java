package dev.sandglass.egress.client;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.egress.IpAddress;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sandboxes and their pods as the API server told them last. A pod counts from its first address until its deletion begins
 * or it has ended, and only if the sandbox that controls it exists; two pods at one address are nobody.
 */
public final class SandboxClients implements Clients, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SandboxClients.class);
    private static final String BY_ADDRESS = "address";
    private static final String BY_UID = "uid";
    private static final ResourceDefinitionContext SANDBOXES =
            ResourceDefinitionContext.fromResourceType(Sandbox.class);

    /** A list that was read, and of which version of the resource. */
    private record Read(String version, EgressRules rules) {}

    private final List<SharedIndexInformer<Pod>> pods = new ArrayList<>();
    private final List<SharedIndexInformer<GenericKubernetesResource>> sandboxes = new ArrayList<>();
    private final Map<String, Read> lists = new ConcurrentHashMap<>();
    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    private final boolean openPermitted;

    /**
     * The sandboxes of those namespaces; none until started.
     *
     * @param openPermitted whether the entry {@code *} counts
     */
    public SandboxClients(KubernetesClient client, Collection<String> namespaces, boolean openPermitted) {
        this.openPermitted = openPermitted;
        for (String namespace : namespaces) {
            SharedIndexInformer<Pod> podInformer = client.pods()
                    .inNamespace(namespace)
                    .withLabel(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                    .runnableInformer(0)
                    .addIndexers(Map.of(BY_ADDRESS, SandboxClients::addresses));
            podInformer.addEventHandler(new Changes<>(pod -> owner(pod).ifPresent(this::tell)));
            pods.add(forever(podInformer, namespace));
            SharedIndexInformer<GenericKubernetesResource> sandboxInformer = client.genericKubernetesResources(
                            SANDBOXES)
                    .inNamespace(namespace)
                    .runnableInformer(0)
                    .addIndexers(Map.of(
                            BY_UID, sandbox -> List.of(sandbox.getMetadata().getUid())));
            sandboxInformer.addEventHandler(new Changes<>(this::sandboxChanged));
            sandboxes.add(forever(sandboxInformer, namespace));
        }
    }

    private static <T> SharedIndexInformer<T> forever(SharedIndexInformer<T> informer, String namespace) {
        return informer.exceptionHandler((started, problem) -> {
            LOG.atWarn()
                    .addKeyValue("namespace", namespace)
                    .addKeyValue("cause", String.valueOf(problem.getMessage()))
                    .log("Watching failed, trying again");
            return true;
        });
    }

    /** Starts watching and returns at once. */
    public void start() {
        pods.forEach(SharedIndexInformer::start);
        sandboxes.forEach(SharedIndexInformer::start);
    }

    @Override
    public boolean isSynced() {
        return pods.stream().allMatch(SharedIndexInformer::hasSynced)
                && sandboxes.stream().allMatch(SharedIndexInformer::hasSynced);
    }

    @Override
    public Optional<Client> at(IpAddress source) {
        List<Pod> there = pods.stream()
                .flatMap(informer -> informer.getIndexer().byIndex(BY_ADDRESS, source.toString()).stream())
                .toList();
        if (there.size() != 1) {
            return Optional.empty();
        }
        // An owner in another namespace is none, whatever a reference says.
        String namespace = there.getFirst().getMetadata().getNamespace();
        return owner(there.getFirst())
                .flatMap(this::sandbox)
                .filter(sandbox -> sandbox.getMetadata().getNamespace().equals(namespace))
                .flatMap(this::client);
    }

    @Override
    public boolean knows(String uid) {
        return sandbox(uid).isPresent();
    }

    @Override
    public void onChange(Consumer<String> listener) {
        listeners.add(listener);
    }

    private void tell(String uid) {
        listeners.forEach(listener -> listener.accept(uid));
    }

    private void sandboxChanged(GenericKubernetesResource sandbox) {
        String uid = sandbox.getMetadata().getUid();
        if (!knows(uid)) {
            lists.remove(uid);
        }
        tell(uid);
    }

    private Optional<GenericKubernetesResource> sandbox(String uid) {
        return sandboxes.stream()
                .flatMap(informer -> informer.getIndexer().byIndex(BY_UID, uid).stream())
                .findFirst();
    }

    private Optional<Client> client(GenericKubernetesResource sandbox) {
        if (sandbox.isMarkedForDeletion()) {
            return Optional.empty();
        }
        var metadata = sandbox.getMetadata();
        String version = String.valueOf(metadata.getResourceVersion());
        Read read = Objects.requireNonNull(lists.compute(
                metadata.getUid(),
                (uid, known) ->
                        known != null && known.version().equals(version) ? known : new Read(version, rules(sandbox))));
        return Optional.of(new Client(metadata.getUid(), metadata.getNamespace(), metadata.getName(), read.rules()));
    }

    /** What the API server should have refused opens nothing. */
    private EgressRules rules(GenericKubernetesResource sandbox) {
        Object list = sandbox.get("spec", "allowedDomains");
        if (!(list instanceof List<?> entries)) {
            return EgressRules.NONE;
        }
        try {
            EgressRules rules =
                    EgressRules.parse(entries.stream().map(String::valueOf).toList());
            return openPermitted ? rules : rules.withoutOpen();
        } catch (IllegalArgumentException e) {
            LOG.atWarn()
                    .addKeyValue("sandbox", sandbox.getMetadata().getName())
                    .addKeyValue("namespace", sandbox.getMetadata().getNamespace())
                    .addKeyValue("cause", String.valueOf(e.getMessage()))
                    .log("allowedDomains is wrong and allows nothing");
            return EgressRules.NONE;
        }
    }

    /** Where a pod is, as long as it may use the proxy. */
    static List<String> addresses(Pod pod) {
        var status = pod.getStatus();
        boolean over = status == null || "Failed".equals(status.getPhase()) || "Succeeded".equals(status.getPhase());
        boolean ofTheNode =
                pod.getSpec() != null && Boolean.TRUE.equals(pod.getSpec().getHostNetwork());
        if (over || ofTheNode || pod.isMarkedForDeletion() || status.getPodIPs() == null) {
            return List.of();
        }
        return status.getPodIPs().stream()
                .flatMap(address -> canonical(address.getIp()).stream())
                .toList();
    }

    private static Optional<String> canonical(String address) {
        try {
            return Optional.of(IpAddress.parse(address).toString());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** UID of the sandbox that controls a pod; labels can be written by many, this only by the operator. */
    private static Optional<String> owner(HasMetadata pod) {
        return pod.getMetadata().getOwnerReferences().stream()
                .filter(reference -> Boolean.TRUE.equals(reference.getController()))
                .filter(reference -> "Sandbox".equals(reference.getKind())
                        && reference.getApiVersion().startsWith(Sandbox.GROUP + "/"))
                .map(OwnerReference::getUid)
                .findFirst();
    }

    @Override
    public void close() {
        pods.forEach(SharedIndexInformer::stop);
        sandboxes.forEach(SharedIndexInformer::stop);
    }

    /** Every change in one place. */
    private record Changes<T>(Consumer<T> listener) implements ResourceEventHandler<T> {
        @Override
        public void onAdd(T added) {
            listener.accept(added);
        }

        @Override
        public void onUpdate(T before, T now) {
            listener.accept(now);
        }

        @Override
        public void onDelete(T deleted, boolean finalStateUnknown) {
            listener.accept(deleted);
        }
    }
}
