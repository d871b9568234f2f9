package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;

/** Who may speak with a sandbox's pod: the gateway, on the link's port. The pod itself may speak with nobody. */
public final class SandboxNetworkPolicy {

    private SandboxNetworkPolicy() {}

    /**
     * The policy of one sandbox.
     *
     * @param gatewayNamespace where the MCP gateway's pods run
     */
    public static NetworkPolicy desired(Sandbox sandbox, String gatewayNamespace) {
        return new NetworkPolicyBuilder()
                .withMetadata(ChildMetadata.of(sandbox, ChildNames.networkPolicy(sandbox)))
                .withNewSpec()
                .withNewPodSelector()
                .addToMatchLabels(
                        SandboxLabels.SANDBOX_UID, sandbox.getMetadata().getUid())
                .endPodSelector()
                .withPolicyTypes("Ingress", "Egress")
                .addNewIngress()
                .addNewFrom()
                .withNewNamespaceSelector()
                .addToMatchLabels("kubernetes.io/metadata.name", gatewayNamespace)
                .endNamespaceSelector()
                .withNewPodSelector()
                .addToMatchLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_GATEWAY)
                .endPodSelector()
                .endFrom()
                .addNewPort()
                .withProtocol("TCP")
                .withNewPort(SandboxLabels.LINK_PORT)
                .endPort()
                .endIngress()
                .endSpec()
                .build();
    }
}
