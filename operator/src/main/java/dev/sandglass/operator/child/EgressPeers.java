package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.DomainRule;
import dev.sandglass.api.egress.IpRange;
import dev.sandglass.api.egress.ReachableBlock;
import dev.sandglass.operator.settings.Egress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRuleBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeerBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPortBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Whom a sandbox's pod may call: the egress proxy, always, so that a host that is not allowed is an answer and not a hang;
 * and the addresses of the list that counts for it directly, for programs that speak neither HTTP nor TLS.
 */
final class EgressPeers {

    private static final String TCP = "TCP";

    /** Where the proxy's pods serve DNS, HTTP and HTTPS; policies see the pod's ports and not the Service's. */
    private static final int DNS = 5353;

    private static final List<Integer> TRANSPARENT = List.of(DNS, 8080, 8443);

    private EgressPeers() {}

    /**
     * The rules, in a stable order.
     *
     * @param proxyNamespace where the egress proxy's pods run
     */
    static List<NetworkPolicyEgressRule> of(Sandbox sandbox, String proxyNamespace, Egress egress) {
        List<NetworkPolicyEgressRule> rules = new ArrayList<>();
        rules.add(proxy(proxyNamespace, egress));
        Map<List<Integer>, Set<ReachableBlock>> blocks = new LinkedHashMap<>();
        for (DomainRule rule : egress.rules(sandbox).rules()) {
            if (rule instanceof DomainRule.Addresses addresses) {
                blocks.computeIfAbsent(ports(addresses), ports -> new LinkedHashSet<>())
                        .addAll(egress.denied().reachable(addresses.range()));
            }
        }
        blocks.forEach((ports, reached) -> {
            // A rule without peers would open these ports to everybody.
            if (!reached.isEmpty()) {
                rules.add(new NetworkPolicyEgressRuleBuilder()
                        .withTo(reached.stream().map(EgressPeers::block).toList())
                        .withPorts(ports.stream().map(port -> port(TCP, port)).toList())
                        .build());
            }
        });
        return rules;
    }

    /** The rule that every sandbox has. */
    static NetworkPolicyEgressRule proxy(String namespace, Egress egress) {
        List<NetworkPolicyPort> ports = new ArrayList<>();
        ports.add(port(TCP, SandboxLabels.EGRESS_PORT));
        if (egress.splitDns()) {
            ports.add(port("UDP", DNS));
            TRANSPARENT.forEach(port -> ports.add(port(TCP, port)));
        }
        return new NetworkPolicyEgressRuleBuilder()
                .addNewTo()
                .withNewNamespaceSelector()
                .addToMatchLabels("kubernetes.io/metadata.name", namespace)
                .endNamespaceSelector()
                .withNewPodSelector()
                .addToMatchLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_EGRESS_PROXY)
                .endPodSelector()
                .endTo()
                .withPorts(ports)
                .build();
    }

    /** The ports on which a sandbox's list opens addresses, whichever these are. */
    static Set<Integer> directPorts(Sandbox sandbox, Egress egress) {
        return egress.rules(sandbox).rules().stream()
                .flatMap(rule -> rule instanceof DomainRule.Addresses addresses
                                && !egress.denied().reachable(addresses.range()).isEmpty()
                        ? ports(addresses).stream()
                        : Stream.empty())
                .collect(Collectors.toSet());
    }

    private static List<Integer> ports(DomainRule.Addresses addresses) {
        return addresses.port().isPresent()
                ? List.of(addresses.port().getAsInt())
                : List.of(DomainRule.HTTP, DomainRule.HTTPS);
    }

    private static NetworkPolicyPeer block(ReachableBlock block) {
        return new NetworkPolicyPeerBuilder()
                .withNewIpBlock()
                .withCidr(cidr(block.range()))
                .withExcept(block.except().stream().map(EgressPeers::cidr).toList())
                .endIpBlock()
                .build();
    }

    /** With the prefix that the canonical text of a single address leaves out. */
    private static String cidr(IpRange range) {
        return range.first() + "/" + range.prefix();
    }

    private static NetworkPolicyPort port(String protocol, int port) {
        return new NetworkPolicyPortBuilder()
                .withProtocol(protocol)
                .withNewPort(port)
                .build();
    }
}
