package dev.sandglass.gateway.kubernetes;

import dev.sandglass.api.ForeignText;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.api.name.TenantName;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tenants that namespaces name themselves by their label {@link SandboxLabels#TENANT}, as they are now. */
public final class LabelledNamespaces implements Supplier<Map<String, String>>, AutoCloseable {

    private static final int MAX_CAUSE_CHARS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(LabelledNamespaces.class);

    private final SharedIndexInformer<Namespace> informer;
    private volatile Map<String, String> byTenant = Map.of();

    /**
     * Does not connect before {@link #start}. The client's own namespace is never a tenant's: it holds the secret that
     * all keys come from.
     *
     * @param client closed by whoever made it
     */
    public LabelledNamespaces(KubernetesClient client) {
        String own = client.getNamespace();
        informer = client.namespaces()
                .withLabel(SandboxLabels.TENANT)
                .runnableInformer(0)
                .exceptionHandler((started, problem) -> {
                    LOG.atWarn()
                            .addKeyValue(
                                    "cause", ForeignText.line(String.valueOf(problem.getMessage()), MAX_CAUSE_CHARS))
                            .log("Watching namespaces failed, trying again");
                    return true;
                });
        informer.addEventHandler(
                new Handler(() -> byTenant = byTenant(informer.getIndexer().list(), own)));
    }

    /** Starts to follow the namespaces; returns at once. */
    public void start() {
        informer.start();
    }

    /** Whether all namespaces were read at least once. */
    public boolean isSynced() {
        return informer.hasSynced();
    }

    /** Tenant to namespace, right now. */
    @Override
    public Map<String, String> get() {
        return byTenant;
    }

    /**
     * Which namespace is which tenant's. Where several claim a name, the oldest has it, so that nobody takes a tenant over
     * by labelling another namespace.
     */
    static Map<String, String> byTenant(Collection<Namespace> labelled, @Nullable String own) {
        var places = new HashMap<String, String>();
        labelled.stream()
                .filter(namespace -> !Objects.equals(namespace.getMetadata().getName(), own))
                .filter(namespace -> namespace.getMetadata().getDeletionTimestamp() == null)
                .filter(namespace -> isName(tenantOf(namespace)))
                .sorted(Comparator.comparing((Namespace namespace) ->
                                Objects.toString(namespace.getMetadata().getCreationTimestamp(), ""))
                        .thenComparing(namespace -> namespace.getMetadata().getName()))
                .forEach(namespace -> places.putIfAbsent(
                        tenantOf(namespace), namespace.getMetadata().getName()));
        return Map.copyOf(places);
    }

    private static String tenantOf(Namespace namespace) {
        return namespace.getMetadata().getLabels().getOrDefault(SandboxLabels.TENANT, "");
    }

    private static boolean isName(String tenant) {
        try {
            return new TenantName(tenant).given().equals(tenant);
        } catch (InvalidNameException e) {
            return false;
        }
    }

    @Override
    public void close() {
        informer.stop();
    }

    /** Whatever happens, everything is looked at again: it is rare. */
    private record Handler(Runnable again) implements ResourceEventHandler<Namespace> {

        @Override
        public void onAdd(Namespace added) {
            again.run();
        }

        @Override
        public void onUpdate(Namespace before, Namespace now) {
            again.run();
        }

        @Override
        public void onDelete(Namespace deleted, boolean finalStateUnknown) {
            again.run();
        }
    }
}
