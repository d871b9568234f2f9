package dev.sandglass.operator.settings;

import dev.sandglass.api.SandboxLabels;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Where sandboxes are looked after. Those in other namespaces are left alone to the last field, since they may be another
 * installation's.
 *
 * @param named the namespaces that the installation names
 * @param byLabel whether a namespace with the label {@link SandboxLabels#TENANT} is a tenant's too, which needs rights in
 *     the whole cluster
 * @param own the installation's own namespace, which is no tenant's: it holds the secret that all keys come from
 */
public record TenantNamespaces(Set<String> named, boolean byLabel, String own) {

    public TenantNamespaces {
        named = Set.copyOf(named);
    }

    /** What to watch, in the framework's form. */
    public Set<String> watched() {
        return byLabel ? Constants.WATCH_ALL_NAMESPACE_SET : named;
    }

    /** Whether the installation prepared that namespace. */
    public boolean names(String namespace) {
        return named.contains(namespace);
    }

    /**
     * Whether sandboxes of that namespace are ours.
     *
     * @param labelled whether a namespace carries the label; asked only if that matters
     */
    public boolean has(String namespace, Predicate<String> labelled) {
        return names(namespace) || (byLabel && !namespace.equals(own) && labelled.test(namespace));
    }
}
