package dev.sandglass.egress.client;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The namespaces whose sandboxes may use the proxy: those that the installation names, and with tenants by label those that
 * carry {@link SandboxLabels#TENANT} too. Sandboxes elsewhere may be another installation's.
 */
public final class TenantNamespaces implements AutoCloseable {

    private final Set<String> names;
    private final Optional<SharedIndexInformer<Namespace>> labelled;

    private TenantNamespaces(Collection<String> names, Optional<SharedIndexInformer<Namespace>> labelled) {
        this.names = Set.copyOf(names);
        this.labelled = labelled;
    }

    /** Those and no others. */
    public static TenantNamespaces named(Collection<String> names) {
        return new TenantNamespaces(names, Optional.empty());
    }

    /** Those and every namespace that carries the label, which needs rights in the whole cluster. */
    public static TenantNamespaces byLabel(Collection<String> names, KubernetesClient client) {
        return new TenantNamespaces(
                names,
                Optional.of(SandboxClients.forever(
                        client.namespaces().withLabel(SandboxLabels.TENANT).runnableInformer(0), "*")));
    }

    Set<String> names() {
        return names;
    }

    boolean byLabel() {
        return labelled.isPresent();
    }

    boolean has(String namespace) {
        return names.contains(namespace)
                || labelled.map(informer -> informer.getStore().getByKey(namespace) != null)
                        .orElse(false);
    }

    void onChange(Consumer<String> listener) {
        labelled.ifPresent(informer -> informer.addEventHandler(new SandboxClients.Changes<>(
                namespace -> listener.accept(namespace.getMetadata().getName()))));
    }

    void start() {
        labelled.ifPresent(SharedIndexInformer::start);
    }

    boolean isSynced() {
        return labelled.map(SharedIndexInformer::hasSynced).orElse(true);
    }

    @Override
    public void close() {
        labelled.ifPresent(SharedIndexInformer::stop);
    }
}
