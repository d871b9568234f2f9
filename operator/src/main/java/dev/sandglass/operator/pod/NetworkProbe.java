package dev.sandglass.operator.pod;

import dev.sandglass.operator.settings.ClosedAddress;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a sandbox's supervisor tries to reach in vain, since nothing else shows whether a cluster enforces NetworkPolicies
 * (ADR 0019). The supervisor keeps these variables from the code.
 *
 * @param addresses what is closed to every sandbox whose list does not open addresses directly
 * @param required whether a sandbox that reaches one of them runs no code
 */
public record NetworkProbe(List<ClosedAddress> addresses, boolean required) {

    /** Tries nothing. */
    public static final NetworkProbe NONE = new NetworkProbe(List.of(), true);

    /** Keeps its own copy. */
    public NetworkProbe {
        addresses = List.copyOf(addresses);
    }

    /** What of it a pod tries whose NetworkPolicies open any address directly on those ports; see {@link ClosedAddress}. */
    public NetworkProbe beside(Set<Integer> opened) {
        return new NetworkProbe(
                addresses.stream()
                        .filter(address -> !address.mayBeOpenedBy(opened))
                        .toList(),
                required);
    }

    /** How the supervisor learns of it; nothing if there is nothing to try. */
    List<EnvVar> variables() {
        return addresses.isEmpty()
                ? List.of()
                : List.of(
                        variable(
                                "SANDGLASS_CLOSED_ADDRESSES",
                                addresses.stream().map(ClosedAddress::toString).collect(Collectors.joining(","))),
                        variable("SANDGLASS_REQUIRE_CLOSED", Boolean.toString(required)));
    }

    private static EnvVar variable(String name, String value) {
        return new EnvVarBuilder().withName(name).withValue(value).build();
    }
}
