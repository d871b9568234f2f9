package dev.sandglass.operator.child;

import static dev.sandglass.operator.child.EgressCases.settings;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.DeniedRanges;
import dev.sandglass.api.egress.EgressRules;
import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.egress.IpRange;
import dev.sandglass.api.link.LinkKeys;
import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.operator.pod.NetworkProbe;
import dev.sandglass.operator.pod.PodSecret;
import dev.sandglass.operator.pod.ProxyAccess;
import dev.sandglass.operator.settings.Egress;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyEgressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The way out of a sandbox: policy, variables, refusals. */
class EgressTest {

    private static final String NOT_ALL = "A part of spec.allowedDomains has no effect: ";
    private static final String NOTHING = "spec.allowedDomains has no effect: ";

    private static final EgressSecret SECRET =
            new EgressSecret("an egress secret for unit tests only".getBytes(StandardCharsets.US_ASCII));
    private static final Egress CLOSED =
            new Egress(new DeniedRanges(List.of(), List.of()), false, false, DefaultDomains.NONE);
    private static final Egress OPENED = new Egress(
            new DeniedRanges(List.of(), List.of(IpRange.parse("10.1.0.0/16"))), true, true, DefaultDomains.NONE);

    private static Sandbox sandbox(String... allowed) {
        return EgressCases.sandbox(Arrays.asList(allowed));
    }

    private static List<NetworkPolicyEgressRule> rules(Egress egress, String... allowed) {
        return SandboxNetworkPolicy.desired(sandbox(allowed), "system", Optional.of(egress))
                .getSpec()
                .getEgress();
    }

    private static List<String> ports(NetworkPolicyEgressRule rule) {
        return rule.getPorts().stream()
                .map((NetworkPolicyPort port) ->
                        port.getProtocol() + " " + port.getPort().getIntVal())
                .toList();
    }

    private static Pod pod(Sandbox sandbox, ProxyAccess access) {
        return SandboxPod.desired(
                sandbox, 1, settings(Optional.of(CLOSED)), Optional.empty(), Optional.of(access), NetworkProbe.NONE);
    }

    @Test
    void withoutAnEgressProxyNobodyMayBeCalledWhateverTheListSays() {
        assertThat(SandboxNetworkPolicy.desired(sandbox("example.com", "93.184.215.14"), "system", Optional.empty())
                        .getSpec())
                .satisfies(spec -> {
                    assertThat(spec.getEgress()).isEmpty();
                    assertThat(spec.getPolicyTypes()).contains("Egress");
                });
    }

    @Test
    void theProxyMayBeCalledEvenIfNothingIsAllowedSoThatADenialIsAnAnswer() {
        assertThat(rules(CLOSED)).singleElement().satisfies(rule -> {
            assertThat(ports(rule)).containsExactly("TCP 3128");
            assertThat(rule.getTo()).singleElement().satisfies(peer -> {
                assertThat(peer.getNamespaceSelector().getMatchLabels())
                        .isEqualTo(Map.of("kubernetes.io/metadata.name", "system"));
                assertThat(peer.getPodSelector().getMatchLabels())
                        .isEqualTo(Map.of("app.kubernetes.io/component", "egress-proxy"));
            });
        });
        assertThat(rules(CLOSED, "example.com", "*.example.com:8443")).hasSize(1);
    }

    @Test
    void withSplitDnsItsOtherPortsMayBeCalledToo() {
        assertThat(ports(rules(OPENED).getFirst()))
                .containsExactly("TCP 3128", "UDP 5353", "TCP 5353", "TCP 8080", "TCP 8443");
    }

    @Test
    void addressesMayBeCalledOnTheirPortsWithoutWhatIsClosed() {
        List<NetworkPolicyEgressRule> rules =
                rules(CLOSED, "93.184.215.14:5432", "168.63.0.0/16", "100.0.0.0/9:5432", "93.184.215.14:5432");

        assertThat(rules).hasSize(3);
        assertThat(ports(rules.get(1))).containsExactly("TCP 5432");
        assertThat(rules.get(1).getTo())
                .extracting(
                        peer -> peer.getIpBlock().getCidr() + peer.getIpBlock().getExcept())
                .containsExactly("93.184.215.14/32[]", "100.0.0.0/9[100.64.0.0/10]");
        assertThat(ports(rules.get(2))).containsExactly("TCP 80", "TCP 443");
        assertThat(rules.get(2).getTo())
                .extracting(
                        peer -> peer.getIpBlock().getCidr() + peer.getIpBlock().getExcept())
                .containsExactly("168.63.0.0/16[168.63.129.16/32]");
    }

    @Test
    void whatIsClosedAltogetherMakesNoRuleForIfItHadNoPeersItWouldOpenThePortToAll() {
        assertThat(rules(CLOSED, "10.1.2.3:5432")).hasSize(1);
        assertThat(rules(OPENED, "10.1.2.3:5432")).hasSize(2);
    }

    @Test
    void aRangeAsWideAsEverythingNeedsThePermissionForIt() {
        assertThat(rules(CLOSED, "0.0.0.0/0", "128.0.0.0/1:5432", "::/0")).hasSize(1);
        assertThat(rules(OPENED, "0.0.0.0/0", "::/0")).hasSize(2);
        assertThat(rules(CLOSED, "92.0.0.0/8", "93.0.0.0/8")).hasSize(1);
        assertThat(Egress.ignored(sandbox("92.0.0.0/8", "93.0.0.0/8"), Optional.of(CLOSED))
                        .orElseThrow())
                .startsWith(NOT_ALL + "spec.allowedDomains: its ranges open about as much together as '*'");
    }

    @Test
    void neitherEverythingNorAListThatIsWrongOpensAnAddress() {
        assertThat(rules(OPENED, "*")).hasSize(1);
        assertThat(rules(OPENED, "93.184.215.14", "*.co.uk")).hasSize(1);
    }

    @Test
    void aListOfAnyLengthIsOnePolicyOfBoundedSize() {
        String[] most = IntStream.rangeClosed(1, 64)
                .mapToObj(port -> "192.0.0.0/8:" + port)
                .toArray(String[]::new);

        List<NetworkPolicyEgressRule> rules = rules(CLOSED, most);

        assertThat(rules).hasSize(65);
        assertThat(rules.getLast().getPorts())
                .extracting(NetworkPolicyPort::getPort)
                .containsExactly(new IntOrString(64));
        assertThat(rules.getLast().getTo()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "*.co.uk | spec.allowedDomains[1]: '*.co.uk' would allow names of everybody",
                "* | spec.allowedDomains[1]: this installation does not permit '*'",
                "0.0.0.0/0 | spec.allowedDomains[1]: this installation does not permit '*' and ranges as wide as '0.0.0.0/0'",
                "10.1.2.3:5432 | spec.allowedDomains[1]: '10.1.2.3:5432' is not public (private), and this installation",
                "169.254.169.254 | spec.allowedDomains[1]: '169.254.169.254' is not public (link-local)",
                "fd00::/8 | spec.allowedDomains[1]: 'fd00::/8' is not public (private)",
            })
    void whatCannotBeInForceIsRefusedBeforeAStartAndToldOfWhatRuns(String entry, String words) {
        Sandbox sandbox = sandbox("example.com", entry);

        assertThat(PodRefusal.of(sandbox, settings(Optional.of(CLOSED)))
                        .orElseThrow()
                        .message())
                .startsWith(words);
        String part = entry.equals("*.co.uk") ? NOTHING : NOT_ALL;
        assertThat(Egress.ignored(sandbox, Optional.of(CLOSED)).orElseThrow()).startsWith(part + words);
        assertThat(CLOSED.rules(sandbox).equals(EgressRules.NONE)).isEqualTo(part.equals(NOTHING));
    }

    @Test
    void whatTheInstallationOpensIsNotRefused() {
        Sandbox sandbox = sandbox("*", "10.1.2.3:5432", "10.0.0.0/8", "example.com");

        assertThat(PodRefusal.of(sandbox, settings(Optional.of(OPENED)))).isEmpty();
        assertThat(Egress.ignored(sandbox, Optional.of(OPENED))).isEmpty();
    }

    @Test
    void withoutAnEgressProxyAListIsNoErrorButToldToBeWithoutEffect() {
        assertThat(PodRefusal.of(sandbox("example.com"), settings(Optional.empty())))
                .isEmpty();
        assertThat(PodRefusal.of(sandbox("*.co.uk"), settings(Optional.empty())))
                .isPresent();
        assertThat(Egress.ignored(sandbox("example.com"), Optional.empty()).orElseThrow())
                .startsWith(NOTHING + "this installation has no egress proxy");
        assertThat(Egress.ignored(sandbox(), Optional.empty())).isEmpty();
    }

    @Test
    void thePodLearnsOfTheProxyAndOnlyItsSecretHasTheCredential() {
        Sandbox sandbox = sandbox("example.com");
        ProxyAccess access = ProxyAccess.of(sandbox.getMetadata().getUid(), "10.96.0.9", SECRET);
        Pod pod = pod(sandbox, access);
        String password = SECRET.passwordOf(sandbox.getMetadata().getUid());

        assertThat(access.url())
                .isEqualTo("http://7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80:" + password + "@10.96.0.9:3128");
        assertThat(access.toString() + pod).doesNotContain(password);
        assertThat(ProxyAccess.of(sandbox.getMetadata().getUid(), "fd00::9", SECRET)
                        .url())
                .endsWith("@[fd00::9]:3128");
        List<EnvVar> variables = pod.getSpec().getContainers().getFirst().getEnv();
        assertThat(variables).extracting(EnvVar::getName).doesNotHaveDuplicates();
        for (String name : List.of("HTTPS_PROXY", "http_proxy", "ALL_PROXY", "PIP_PROXY", "npm_config_https_proxy")) {
            assertThat(variables)
                    .filteredOn(variable -> variable.getName().equals(name))
                    .singleElement()
                    .satisfies(variable -> {
                        assertThat(variable.getValueFrom().getSecretKeyRef().getName())
                                .isEqualTo(pod.getMetadata().getName());
                        assertThat(variable.getValueFrom().getSecretKeyRef().getKey())
                                .isEqualTo("proxyUrl");
                    });
        }
        assertThat(variables)
                .filteredOn(variable -> variable.getName().equals("JAVA_TOOL_OPTIONS"))
                .singleElement()
                .satisfies(variable ->
                        assertThat(variable.getValue()).contains("-Dhttps.proxyHost=10.96.0.9 -Dhttps.proxyPort=3128"));
    }

    @Test
    void whoseSecretItIsThatAPodsVariablesNameHasTheirKey() {
        Sandbox sandbox = sandbox("example.com");
        ProxyAccess access = ProxyAccess.of(sandbox.getMetadata().getUid(), "10.96.0.9", SECRET);
        LinkKeys keys = SandboxPod.subject(sandbox, 1).linkKeys(new LinkSecret(new byte[32]));

        String url = PodSecret.desired(ChildMetadata.ofIncarnation(sandbox, 1), keys, Optional.of(access))
                .getData()
                .get("proxyUrl");

        assertThat(new String(Base64.getDecoder().decode(url), StandardCharsets.US_ASCII))
                .isEqualTo(access.url());
        assertThat(PodSecret.desired(ChildMetadata.ofIncarnation(sandbox, 1), keys, Optional.empty())
                        .getData())
                .doesNotContainKey("proxyUrl");
    }

    @Test
    void anotherListIsNoReasonToStartAnew() {
        Pod pod = pod(
                sandbox("example.com"), ProxyAccess.of(sandbox().getMetadata().getUid(), "10.96.0.9", SECRET));

        assertThat(SpecHash.outdated(pod, sandbox("other.example"))).isFalse();
    }
}
