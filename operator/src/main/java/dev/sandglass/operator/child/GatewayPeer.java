package dev.sandglass.operator.child;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRuleBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPortBuilder;
import java.util.List;

/** Who may call a sandbox's pod: only the gateway. */
final class GatewayPeer {

    private GatewayPeer() {}

    /**
     * The rule that lets it in.
     *
     * @param namespace where the gateway's pods run
     * @param ports at least one: a rule without would open them all
     */
    static NetworkPolicyIngressRule on(String namespace, List<Integer> ports) {
        return new NetworkPolicyIngressRuleBuilder()
                .addNewFrom()
                .withNewNamespaceSelector()
                .addToMatchLabels("kubernetes.io/metadata.name", namespace)
                .endNamespaceSelector()
                .withNewPodSelector()
                .addToMatchLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_GATEWAY)
                .endPodSelector()
                .endFrom()
                .withPorts(ports.stream().map(GatewayPeer::tcp).toList())
                .build();
    }

    private static NetworkPolicyPort tcp(int port) {
        return new NetworkPolicyPortBuilder()
                .withProtocol("TCP")
                .withNewPort(port)
                .build();
    }
}
