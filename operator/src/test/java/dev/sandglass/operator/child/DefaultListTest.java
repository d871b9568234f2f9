package dev.sandglass.operator.child;

import static dev.sandglass.operator.child.EgressCases.sandbox;
import static dev.sandglass.operator.child.EgressCases.settings;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.settings.Egress;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The installation's list, and the sandboxes for which it counts: those without one, and not those with an empty one. */
class DefaultListTest {

    private static final List<String> LIST = List.of("example.com", "93.184.215.14:5432");
    private static final Egress WITH_LIST =
            new Egress(new DeniedRanges(List.of(), List.of()), false, false, new DefaultDomains(LIST));
    private static final Egress WITHOUT =
            new Egress(new DeniedRanges(List.of(), List.of()), false, false, DefaultDomains.NONE);

    private static final Sandbox NO_LIST = sandbox(null);
    private static final Sandbox EMPTY_LIST = sandbox(List.of());

    private static List<NetworkPolicyEgressRule> policy(Sandbox sandbox, Egress egress) {
        return SandboxNetworkPolicy.desired(sandbox, "system", Optional.of(egress))
                .getSpec()
                .getEgress();
    }

    @Test
    void itCountsForASandboxThatHasNone() {
        assertThat(WITH_LIST.rules(NO_LIST)).isEqualTo(EgressRules.parse(LIST));
        assertThat(WITHOUT.rules(NO_LIST)).isEqualTo(EgressRules.NONE);
    }

    @Test
    void itDoesNotCountBesidesAListOfTheSandboxAndBeItEmpty() {
        assertThat(WITH_LIST.rules(sandbox(List.of("example.org"))))
                .isEqualTo(EgressRules.parse(List.of("example.org")));
        assertThat(WITH_LIST.rules(EMPTY_LIST)).isEqualTo(EgressRules.NONE);
    }

    @Test
    void itsAddressesAreInTheNetworkPolicy() {
        List<NetworkPolicyEgressRule> rules = policy(NO_LIST, WITH_LIST);

        assertThat(rules).as("the proxy and the address").hasSize(2);
        assertThat(rules.getLast().getPorts())
                .extracting(port -> port.getPort().getIntVal())
                .containsExactly(5432);
        assertThat(rules.getLast().getTo())
                .extracting(peer -> peer.getIpBlock().getCidr())
                .containsExactly("93.184.215.14/32");
        assertThat(policy(EMPTY_LIST, WITH_LIST)).as("the proxy alone").hasSize(1);
    }

    @Test
    void aSandboxWithoutAListIsNeitherRefusedNorToldOfIgnoredEntries() {
        for (Optional<Egress> egress :
                List.of(Optional.of(WITH_LIST), Optional.of(WITHOUT), Optional.<Egress>empty())) {
            assertThat(PodRefusal.of(NO_LIST, settings(egress))).isEmpty();
            assertThat(Egress.ignored(NO_LIST, egress)).isEmpty();
            assertThat(Egress.ignored(EMPTY_LIST, egress)).isEmpty();
        }
    }

    /** Neither the sandbox's list nor the installation's shapes the pod, so that no edit of them awaits a start. */
    @Test
    void noListShapesThePod() {
        String hash = SpecHash.of(NO_LIST.wanted());

        assertThat(SpecHash.of(EMPTY_LIST.wanted())).isEqualTo(hash);
        assertThat(SpecHash.of(sandbox(LIST).wanted())).isEqualTo(hash);
        assertThat(SandboxPod.desired(
                        NO_LIST,
                        1,
                        settings(Optional.of(WITH_LIST)),
                        Optional.empty(),
                        Optional.empty(),
                        NetworkProbe.NONE))
                .isEqualTo(SandboxPod.desired(
                        EMPTY_LIST,
                        1,
                        settings(Optional.of(WITHOUT)),
                        Optional.empty(),
                        Optional.empty(),
                        NetworkProbe.NONE));
    }
}
