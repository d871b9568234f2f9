package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.operator.settings.Egress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Who may speak with a sandbox's pod: the gateway, on the link's port and the declared ones. The pod itself may call the
 * egress proxy and the addresses of its list; without an egress proxy it may call no address.
 */
public final class SandboxNetworkPolicy {

    private SandboxNetworkPolicy() {}

    /**
     * The policy of one sandbox, whether or not it needs one.
     *
     * @param systemNamespace where the pods of MCP gateway and egress proxy run
     */
    public static NetworkPolicy desired(Sandbox sandbox, String systemNamespace, Optional<Egress> egress) {
        return new NetworkPolicyBuilder()
                .withMetadata(ChildMetadata.of(sandbox, ChildNames.networkPolicy(sandbox)))
                .withNewSpec()
                .withNewPodSelector()
                .addToMatchLabels(
                        SandboxLabels.SANDBOX_UID, sandbox.getMetadata().getUid())
                .endPodSelector()
                .withPolicyTypes("Ingress", "Egress")
                .withIngress(GatewayPeer.on(systemNamespace, ports(sandbox)))
                .withEgress(egress.map(way -> EgressPeers.of(sandbox, systemNamespace, way))
                        .orElse(List.of()))
                .endSpec()
                .build();
    }

    private static List<Integer> ports(Sandbox sandbox) {
        return Stream.concat(
                        Stream.of(SandboxLabels.LINK_PORT),
                        sandbox.wanted().ports().stream().map(SandboxPort::port))
                .toList();
    }
}
