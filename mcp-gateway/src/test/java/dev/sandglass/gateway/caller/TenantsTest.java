package dev.sandglass.gateway.caller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TenantsTest {

    @Test
    void pairsMapTenantsToNamespaces() {
        Tenants tenants = Tenants.parse(List.of("team=ns-team", " default = sandglass-default "));

        assertThat(tenants.names()).containsExactly("default", "team");
        assertThat(tenants.namespaceOf("team")).contains("ns-team");
        assertThat(tenants.namespaceOf("no")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "a=", "=b", "a=b=c", ""})
    void anotherShapeIsRefusedWithItsText(String pair) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Tenants.parse(List.of(pair)))
                .withMessageContaining("gateway.tenants")
                .withMessageContaining("'" + pair + "'");
    }

    @Test
    void aTenantNamedTwiceIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> Tenants.parse(List.of("a=b", "a=c")));
    }

    @Test
    void othersComeAndGoAndTakeNothingFromThoseThatAreNamed() {
        var others = new AtomicReference<>(Map.of("team", "ns-team", "a", "ns-thief", "twin", "ns-a"));
        Tenants tenants = Tenants.parse(List.of("a=ns-a")).with(others::get);

        assertThat(tenants.names()).containsExactly("a", "team");
        assertThat(tenants.namespaceOf("team")).contains("ns-team");
        assertThat(tenants.namespaceOf("a")).contains("ns-a");
        assertThat(tenants.namespaceOf("twin")).isEmpty();
        assertThat(tenants.namedNamespaces()).containsExactly("ns-a");

        others.set(Map.of());

        assertThat(tenants.names()).containsExactly("a");
        assertThat(tenants.namespaceOf("team")).isEmpty();
    }

    @Test
    void aCallerWithoutNamespaceMeansItsOwnTenant() {
        var access = new TenantAccess(Tenants.parse(List.of("a=ns-a", "default=ns-default", "z=ns-z")));

        assertThat(own(access, "z", "a")).isEqualTo("z");
        assertThat(own(access, "*")).isEqualTo("default");
        assertThat(own(access, "*", "a")).isEqualTo("a");
        assertThat(access.visible(new Caller("c", List.of("z", "gone"))))
                .extracting(TenantAccess.Tenant::namespace)
                .containsExactly("ns-z");
    }

    private static String own(TenantAccess access, String... tenants) {
        return access.tenant(new Caller("c", List.of(tenants)), Optional.empty())
                .name();
    }
}
