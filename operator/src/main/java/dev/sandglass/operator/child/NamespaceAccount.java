package dev.sandglass.operator.child;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;

/**
 * The identity of all sandboxes of a namespace: bound to nothing, and its token is never mounted. Whoever owns the
 * namespace may give it pull secrets.
 */
public final class NamespaceAccount {

    private NamespaceAccount() {}

    /** The account of one namespace; the chart makes the same for the namespaces that it names. */
    public static ServiceAccount desired(String namespace, String name) {
        return new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .addToLabels(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR)
                .endMetadata()
                .withAutomountServiceAccountToken(false)
                .build();
    }
}
