package dev.sandglass.operator.child;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxPort;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.operator.settings.Egress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Who needs a policy of his own. */
class NamespaceAccessTest {

    private static final Egress PROXY = egress(false, DefaultDomains.NONE);

    private static Egress egress(boolean splitDns, DefaultDomains defaults) {
        return new Egress(new DeniedRanges(List.of(), List.of()), false, splitDns, defaults);
    }

    private static NetworkPolicy own(Egress egress, String... allowed) {
        Sandbox sandbox = EgressCases.sandbox(allowed.length == 0 ? null : Arrays.asList(allowed));
        return SandboxNetworkPolicy.desired(sandbox, "system", Optional.of(egress));
    }

    private static NetworkPolicy access(NetworkPolicy own, Optional<Egress> egress) {
        return NamespaceAccess.desired(own.getMetadata().getNamespace(), "system", egress);
    }

    private static boolean isEnough(NetworkPolicy own) {
        return NamespaceAccess.grants(access(own, Optional.of(PROXY)), own);
    }

    @Test
    void namesAreTheProxysBusinessSoThatTheyNeedNone() {
        assertThat(isEnough(own(PROXY))).isTrue();
        assertThat(isEnough(own(PROXY, "example.com", "*.example.org"))).isTrue();
        assertThat(isEnough(own(PROXY, "10.1.2.3"))).as("not in force").isTrue();
    }

    @Test
    void addressesOfTheListNeedOne() {
        assertThat(isEnough(own(PROXY, "example.com", "93.184.215.14:5432"))).isFalse();
        assertThat(isEnough(own(egress(false, new DefaultDomains(List.of("93.184.215.14"))))))
                .as("of the installation's list")
                .isFalse();
    }

    @Test
    void declaredPortsNeedOne() {
        Sandbox sandbox = EgressCases.sandbox(null);
        sandbox.setSpec(sandbox.wanted().withPorts(List.of(new SandboxPort("web", 8080))));

        assertThat(isEnough(SandboxNetworkPolicy.desired(sandbox, "system", Optional.of(PROXY))))
                .isFalse();
    }

    @Test
    void aPolicyOfTheNamespaceThatAllowsLessIsNotEnough() {
        NetworkPolicy own = own(PROXY);
        NetworkPolicy right = access(own, Optional.of(PROXY));

        assertThat(NamespaceAccess.grants(access(own, Optional.empty()), own))
                .as("without the proxy")
                .isFalse();
        assertThat(NamespaceAccess.grants(right, own(egress(true, DefaultDomains.NONE))))
                .as("with too few ports of the proxy")
                .isFalse();
        assertThat(NamespaceAccess.grants(
                        new NetworkPolicyBuilder(right)
                                .editSpec()
                                .editPodSelector()
                                .addToMatchLabels("team", "a")
                                .endPodSelector()
                                .endSpec()
                                .build(),
                        own))
                .as("for some of the pods")
                .isFalse();
        assertThat(NamespaceAccess.grants(
                        new NetworkPolicyBuilder(right)
                                .editSpec()
                                .withPolicyTypes("Ingress")
                                .endSpec()
                                .build(),
                        own))
                .as("for one direction")
                .isFalse();
    }

    @Test
    void oneThatAllowsMoreIsEnoughSincePoliciesAddUp() {
        NetworkPolicy own = own(PROXY);

        assertThat(NamespaceAccess.grants(access(own, Optional.of(egress(true, DefaultDomains.NONE))), own))
                .isTrue();
    }

    @Test
    void onlyWhatTheOperatorMadeIsItsOwn() {
        NetworkPolicy made = access(own(PROXY), Optional.of(PROXY));

        assertThat(NamespaceAccess.isOurs(made)).isTrue();
        assertThat(NamespaceAccess.isOurs(new NetworkPolicyBuilder(made)
                        .editMetadata()
                        .addToLabels("app.kubernetes.io/managed-by", "Helm")
                        .endMetadata()
                        .build()))
                .isFalse();
        assertThat(NamespaceAccess.isOurs(new NetworkPolicyBuilder(made)
                        .editMetadata()
                        .withLabels(null)
                        .endMetadata()
                        .build()))
                .isFalse();
    }
}
