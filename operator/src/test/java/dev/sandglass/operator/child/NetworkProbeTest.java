package dev.sandglass.operator.child;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.IpRange;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.settings.ClosedAddress;
import dev.sandglass.operator.settings.Egress;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which Services a sandbox's pod tries in vain, by what its list opens without the proxy. */
class NetworkProbeTest {

    private static final ClosedAddress API_SERVER = new ClosedAddress("10.96.0.1", 443, Set.of(6443));
    private static final ClosedAddress GATEWAY = new ClosedAddress("fd00::8", 80, Set.of(8080));
    private static final String BOTH = "10.96.0.1:443,[fd00::8]:80";

    private static String closed(Optional<Egress> egress, String... allowed) {
        Pod pod = SandboxPod.desired(
                EgressCases.sandbox(List.of(allowed)),
                1,
                EgressCases.settings(egress),
                Optional.empty(),
                Optional.empty(),
                new NetworkProbe(List.of(API_SERVER, GATEWAY), true));
        return pod.getSpec().getContainers().getFirst().getEnv().stream()
                .filter(variable -> variable.getName().equals("SANDGLASS_CLOSED_ADDRESSES"))
                .map(EnvVar::getValue)
                .findFirst()
                .orElse("");
    }

    @ParameterizedTest
    @CsvSource({
        "example.com:443, 10.96.0.1:443;[fd00::8]:80",
        "93.184.215.14:5432, 10.96.0.1:443;[fd00::8]:80",
        "93.184.215.14:443, [fd00::8]:80",
        "93.184.215.14:6443, [fd00::8]:80",
        "93.184.215.14:8080, 10.96.0.1:443",
        "93.184.215.14, ''",
        "10.0.0.0/8:443, 10.96.0.1:443;[fd00::8]:80",
        "172.16.0.0/12:443, [fd00::8]:80"
    })
    void aServiceIsLeftOutIfTheListOpensAddressesOnItsPorts(String allowed, String tried) {
        Egress egress = new Egress(
                new DeniedRanges(List.of(), List.of(IpRange.parse("172.16.0.0/12"))),
                false,
                false,
                DefaultDomains.NONE);

        assertThat(closed(Optional.of(egress), allowed)).isEqualTo(tried.replace(';', ','));
    }

    @ParameterizedTest
    @CsvSource({"93.184.215.14", "example.com"})
    void withoutAProxyNoListOpensAnything(String allowed) {
        assertThat(closed(Optional.empty(), allowed)).isEqualTo(BOTH);
    }
}
