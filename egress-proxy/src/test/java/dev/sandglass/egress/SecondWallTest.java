package dev.sandglass.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.api.egress.IpRange;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The chart's NetworkPolicy of the egress proxy leaves out exactly what the proxy itself denies. */
class SecondWallTest {

    /** All that the policy opens of IPv6 at all. */
    private static final IpRange GLOBAL_UNICAST = IpRange.parse("2000::/3");

    private static List<String> inTheChart(String file) throws IOException {
        return Files.readAllLines(Path.of("../helm/sandglass/files/egress", file));
    }

    /** The denied ranges of that kind, without those that lie within another one. */
    private static List<String> denied(Predicate<IpRange> kind) {
        List<IpRange> ranges = DeniedRanges.everywhere().stream()
                .map(DeniedRanges.Named::range)
                .filter(kind)
                .toList();
        return ranges.stream()
                .filter(range -> ranges.stream().noneMatch(other -> !other.equals(range) && other.contains(range)))
                .map(IpRange::toString)
                .map(text -> text.contains("/") ? text : text + "/32")
                .toList();
    }

    @Test
    void everyDeniedRangeOfIpv4IsAnException() throws IOException {
        assertThat(inTheChart("private-ipv4.txt")).containsExactlyInAnyOrderElementsOf(denied(range -> !range.first()
                .isSix()));
    }

    @Test
    void everyDeniedRangeOfGlobalIpv6IsAnException() throws IOException {
        assertThat(inTheChart("private-ipv6.txt"))
                .containsExactlyInAnyOrderElementsOf(denied(GLOBAL_UNICAST::contains));
    }

    private static boolean reaches(NetworkPolicyPeer peer, IpAddress address) {
        return peer.getIpBlock() != null
                && IpRange.parse(peer.getIpBlock().getCidr()).contains(address)
                && peer.getIpBlock().getExcept().stream()
                        .noneMatch(range -> IpRange.parse(range).contains(address));
    }

    /**
     * GKE's Cloud DNS answers at the address of the metadata service, which tells who asks by HTTP who the node is. A rule
     * without peers is the one for the API server, until its addresses are named.
     */
    @ParameterizedTest
    @CsvSource({"169.254.169.254, 53", "169.254.20.10, 53", "10.0.0.1, ", "fd00:ec2::254, "})
    void privateAddressesAreOpenForDnsAlone(String address, @Nullable Integer port) throws IOException {
        IpAddress asked = IpAddress.parse(address);
        List<NetworkPolicy> policies = Stream.of(Files.readString(Path.of("../helm/tests/golden/default.yaml"))
                        .split("\n---\n"))
                .filter(document -> document.contains("\nkind: NetworkPolicy\n"))
                .map(document -> new KubernetesSerialization().unmarshal(document, NetworkPolicy.class))
                .filter(policy -> policy.getMetadata().getNamespace().equals("sandglass-system"))
                .toList();
        assertThat(policies).hasSize(3).allSatisfy(policy -> {
            Set<String> open = policy.getSpec().getEgress().stream()
                    .filter(rule -> rule.getTo().stream().anyMatch(peer -> reaches(peer, asked)))
                    .flatMap(rule -> rule.getPorts().stream())
                    .map(one -> one.getProtocol() + " " + one.getPort().getIntVal())
                    .collect(Collectors.toSet());
            assertThat(open)
                    .as(policy.getMetadata().getName())
                    .isEqualTo(port == null ? Set.of() : Set.of("UDP " + port, "TCP " + port));
        });
    }
}
