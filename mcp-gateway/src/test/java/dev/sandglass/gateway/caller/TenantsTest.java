package dev.sandglass.gateway.caller;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.name.InvalidNameException;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

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

    private final List<String> made = new ArrayList<>();

    private TenantAccess making() {
        return new TenantAccess(
                Tenants.parse(List.of("default=ns-default")),
                Optional.of((caller, tenant) -> Mono.fromSupplier(() -> {
                    made.add(tenant);
                    return "ns-of-" + tenant;
                })),
                "given"::equals);
    }

    @Test
    void aStartOfACallerOfAllMakesATenantThatIsMissing() {
        var caller = new Caller("c", List.of("*"));

        SandboxRef started =
                making().sandboxToStart(caller, Optional.of("research"), "box").block();

        assertThat(started).isEqualTo(new SandboxRef("research", "ns-of-research", "box", "box"));
        assertThat(made).containsExactly("research");
        assertThat(making().sandboxToStart(caller, Optional.of("default"), "box")
                        .block())
                .isEqualTo(new SandboxRef("default", "ns-default", "box", "box"));
        assertThat(making().sandboxToStart(caller, Optional.empty(), "box").block())
                .isEqualTo(new SandboxRef("default", "ns-default", "box", "box"));
        assertThat(made).hasSize(1);
    }

    @Test
    void nobodyElseMakesOneAndNoOtherCall() {
        var some = new Caller("c", List.of("default", "research"));

        assertThatThrownBy(() -> making().sandboxToStart(some, Optional.of("research"), "box"))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessage("Namespace 'research' does not exist. Namespaces that you can use: default.");
        assertThatThrownBy(() -> making().sandbox(new Caller("c", List.of("*")), Optional.of("research"), "box"))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageEndingWith(
                        "Namespaces that you can use: default. A start of a sandbox in it, at /mcp, makes" + " it.");
        assertThatThrownBy(() -> making().sandboxToStart(new Caller("c", List.of("*")), Optional.of("research"), "a b"))
                .isInstanceOf(InvalidNameException.class);
        assertThat(made).isEmpty();
    }

    /** An administrator who takes a tenant away wants its callers to be without it. */
    @Test
    void oneThatAKeyNamesIsNotMade() {
        assertThatThrownBy(() -> making().sandboxToStart(new Caller("c", List.of("*")), Optional.of("given"), "box"))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessageStartingWith("Namespace 'given' does not exist.")
                .hasMessageContaining("An administrator adds one")
                .hasMessageNotContaining("makes it");
        assertThat(made).isEmpty();
    }

    @Test
    void aTenantThatACallerHadMadeIsNoOthersOwn() {
        var places = new HashMap<>(Map.of("a", "sandglass-tenant-a", "b", "ns-b"));
        var access = new TenantAccess(Tenants.parse(List.of("c=ns-c")).with(() -> places));
        var caller = new Caller("c", List.of("*"));

        assertThat(access.own(caller)).isEqualTo("b");
        places.put("default", "sandglass-tenant-default");
        assertThat(access.own(caller)).isEqualTo("b");
        places.put("default", "ns-default");
        assertThat(access.own(caller)).isEqualTo("default");

        var onlyMade = new TenantAccess(Tenants.parse(List.of()).with(() -> Map.of("a", "sandglass-tenant-a")));
        assertThat(onlyMade.own(caller)).isEqualTo("default");
        assertThat(onlyMade.own(new Caller("c", List.of("a")))).isEqualTo("a");
    }

    @Test
    void aCallerOfAllIsToldHowOneIsAdded() {
        var access = new TenantAccess(Tenants.parse(List.of("default=ns-default")));

        assertThatThrownBy(() -> access.sandboxToStart(new Caller("c", List.of("*")), Optional.of("research"), "box"))
                .isInstanceOf(SandboxProblem.Refused.class)
                .hasMessage(
                        "Namespace 'research' does not exist. Namespaces that you can use: default. An administrator"
                                + " adds one to 'tenants' of the chart, or with 'tenantsByLabel' by: kubectl label namespace NAME"
                                + " sandglass.dev/tenant=research");
    }

    private static String own(TenantAccess access, String... tenants) {
        return access.tenant(new Caller("c", List.of(tenants)), Optional.empty())
                .name();
    }
}
