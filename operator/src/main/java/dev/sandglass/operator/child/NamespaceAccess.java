package dev.sandglass.operator.child;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.operator.settings.Egress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicySpec;
import java.util.List;
import java.util.Optional;

/**
 * What every sandbox of a namespace may do: be called by the gateway on the link's port, and call the egress proxy. Most
 * sandboxes need no more, so that they have no policy of their own; see ADR 0011.
 */
public final class NamespaceAccess {

    private NamespaceAccess() {}

    /**
     * The policy for one namespace; the chart makes the same for the namespaces it owns.
     *
     * @param systemNamespace where the pods of MCP gateway and egress proxy run
     * @param egress empty if the installation has no egress proxy
     */
    public static NetworkPolicy desired(String namespace, String systemNamespace, Optional<Egress> egress) {
        return NamespacePolicy.desired(namespace)
                .edit()
                .editMetadata()
                .withName(ChildNames.NAMESPACE_ACCESS)
                .endMetadata()
                .editSpec()
                .withIngress(GatewayPeer.on(systemNamespace, List.of(SandboxLabels.LINK_PORT)))
                .withEgress(egress.map(way -> List.of(EgressPeers.proxy(systemNamespace, way)))
                        .orElse(List.of()))
                .endSpec()
                .build();
    }

    /** Whether an operator made this policy, rather than the chart or another author. */
    public static boolean isOurs(NetworkPolicy policy) {
        return SandboxLabels.OPERATOR.equals(
                Optional.ofNullable(policy.getMetadata().getLabels())
                        .map(labels -> labels.get(SandboxLabels.MANAGED_BY))
                        .orElse(null));
    }

    /**
     * Whether a namespace's policy lets its sandboxes do all that this one's own policy would. If it lets them do more, an
     * own policy would not change that: policies add up.
     *
     * @param access as it is in the cluster, by any author
     */
    public static boolean grants(NetworkPolicy access, NetworkPolicy own) {
        NetworkPolicySpec all = access.getSpec();
        NetworkPolicySpec needed = own.getSpec();
        return all.getPodSelector().equals(NamespacePolicy.PODS)
                && all.getPolicyTypes().containsAll(needed.getPolicyTypes())
                && needed.getIngress().stream().allMatch(rule -> all.getIngress().stream()
                        .anyMatch(given -> given.getFrom().equals(rule.getFrom())
                                && given.getPorts().containsAll(rule.getPorts())))
                && needed.getEgress().stream().allMatch(rule -> all.getEgress().stream()
                        .anyMatch(given -> given.getTo().equals(rule.getTo())
                                && given.getPorts().containsAll(rule.getPorts())));
    }
}
