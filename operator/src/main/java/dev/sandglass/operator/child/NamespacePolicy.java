package dev.sandglass.operator.child;

import dev.sandglass.api.Reason;
import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import java.util.List;
import java.util.Optional;

/**
 * Cuts off every sandbox pod of a namespace. It must exist before the first pod: a policy that comes later leaves a pod
 * open until the network plug-in has seen it, while one that only allows more does no harm by being late.
 */
public final class NamespacePolicy {

    /** The pods that a namespace's policies are about, and which of their ways. Compared in every round, so built once. */
    static final LabelSelector PODS = new LabelSelectorBuilder()
            .addToMatchLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
            .build();

    private static final List<String> BOTH_WAYS = List.of("Ingress", "Egress");

    private NamespacePolicy() {}

    /** The policy for one namespace; the chart makes the same for the namespaces it owns. */
    public static NetworkPolicy desired(String namespace) {
        return new NetworkPolicyBuilder()
                .withNewMetadata()
                .withName(ChildNames.NAMESPACE_POLICY)
                .withNamespace(namespace)
                .addToLabels(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR)
                .endMetadata()
                .withNewSpec()
                .withPodSelector(PODS)
                .withPolicyTypes(BOTH_WAYS)
                .endSpec()
                .build();
    }

    /** Whether a policy of this name, by any author, isolates every sandbox of its namespace. */
    public static boolean cutsOff(NetworkPolicy found) {
        LabelSelector selector = found.getSpec().getPodSelector();
        // One that names nothing selects every pod there is.
        return (selector.equals(PODS) || selector.equals(new LabelSelector()))
                && found.getSpec().getPolicyTypes().containsAll(BOTH_WAYS);
    }

    /**
     * Why no pod may be made beside a policy of this name: pods without it can call, and be called by, the whole cluster.
     *
     * @return empty if it shuts sandboxes in, or is the operator's to restore
     */
    public static Optional<PodRefusal> problem(NetworkPolicy found) {
        return cutsOff(found) || NamespaceAccess.isOurs(found)
                ? Optional.empty()
                : Optional.of(new PodRefusal(
                        Reason.POD_REFUSED,
                        "NetworkPolicy " + ChildNames.NAMESPACE_POLICY + " of namespace "
                                + found.getMetadata().getNamespace()
                                + " does not isolate its sandboxes: its podSelector or"
                                + " policyTypes were changed. The operator did not create it and does not change it."
                                + " Restore it (helm upgrade, if it is the chart's), or delete it; then the operator"
                                + " creates its own"));
    }
}
