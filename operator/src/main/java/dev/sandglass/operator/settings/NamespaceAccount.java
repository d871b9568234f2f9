package dev.sandglass.operator.settings;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import java.util.List;

/**
 * The identity of all sandboxes of a namespace: bound to nothing, and its token is never mounted. The owner of the
 * namespace may give it further pull secrets.
 *
 * @param name the same in every namespace
 * @param pullSecrets names of the Secrets, in the namespace, with which images are pulled
 */
public record NamespaceAccount(String name, List<String> pullSecrets) {

    public NamespaceAccount {
        pullSecrets = List.copyOf(pullSecrets);
    }

    /** The account of one namespace; the chart makes the same for the namespaces that it names. */
    public ServiceAccount desired(String namespace) {
        return new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(namespace)
                .addToLabels(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR)
                .endMetadata()
                .withAutomountServiceAccountToken(false)
                .withImagePullSecrets(
                        pullSecrets.stream().map(LocalObjectReference::new).toList())
                .build();
    }
}
