package dev.sandglass.operator.settings;

import java.util.Set;

/**
 * A Service that the NetworkPolicies of every sandbox close, and that answers wherever nothing enforces them.
 *
 * @param host its IP address
 * @param port its TCP port
 * @param behind ports on which its endpoints listen, as NetworkPolicies see them
 */
public record ClosedAddress(String host, int port, Set<Integer> behind) {

    /** Keeps its own copy. */
    public ClosedAddress {
        behind = Set.copyOf(behind);
    }

    /**
     * Whether a policy that opens some addresses on those ports may open this one too: what stands behind the Service may be
     * among these addresses.
     */
    public boolean mayBeOpenedBy(Set<Integer> ports) {
        return ports.contains(port) || behind.stream().anyMatch(ports::contains);
    }

    /** As the supervisor reads it. */
    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
