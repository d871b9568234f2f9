package dev.sandglass.operator.write;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.operator.settings.ClosedAddress;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClosedServicesTest {

    private static Service service(String... ips) {
        return new ServiceBuilder()
                .withNewSpec()
                .withClusterIPs(ips)
                .addNewPort()
                .withPort(80)
                .endPort()
                .endSpec()
                .build();
    }

    @Test
    void aServiceOfTwoFamiliesIsTriedInBoth() {
        assertThat(ClosedServices.addresses(Optional.of(service("10.96.0.8", "fd00::8"))))
                .containsExactly(
                        new ClosedAddress("10.96.0.8", 80, Set.of(8080)),
                        new ClosedAddress("fd00::8", 80, Set.of(8080)))
                .extracting(ClosedAddress::toString)
                .isEqualTo(List.of("10.96.0.8:80", "[fd00::8]:80"));
    }

    @Test
    void whatHasNoAddressIsNotTried() {
        assertThat(ClosedServices.addresses(Optional.empty())).isEmpty();
        assertThat(ClosedServices.addresses(Optional.of(service("None")))).isEmpty();
        assertThat(ClosedServices.addresses(Optional.of(new Service()))).isEmpty();
    }
}
