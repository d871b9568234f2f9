package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.operator.leader.Election;
import dev.sandglass.operator.lifecycle.Deadlines;
import dev.sandglass.operator.settings.ClosedAddress;
import dev.sandglass.operator.settings.Egress;
import dev.sandglass.operator.settings.ImagePolicy;
import dev.sandglass.operator.settings.NamespaceAccount;
import dev.sandglass.operator.settings.Placement;
import dev.sandglass.operator.settings.PodSettings;
import dev.sandglass.operator.settings.ProbeSettings;
import dev.sandglass.operator.settings.RequestRatios;
import dev.sandglass.operator.settings.RuntimeClassPolicy;
import dev.sandglass.operator.settings.SandboxUsers;
import dev.sandglass.operator.settings.Scheduling;
import dev.sandglass.operator.settings.TenantNamespaces;
import dev.sandglass.operator.settings.TrustedAuthorities;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OperatorSettingsTest {

    private static final RequestRatios RATIOS = new RequestRatios(new BigDecimal("0.05"), new BigDecimal("0.25"));

    private static final Map<String, String> REQUIRED = Map.of(
            "OPERATOR_NAMESPACES", "tenant-a",
            "OPERATOR_DEFAULT_IMAGE", "registry.example.com/kernel:1",
            "OPERATOR_LINK_SECRET_FILE", "/etc/sandglass/link",
            "OPERATOR_GATEWAY_NAMESPACE", "sandglass-system");

    private static final Map<String, String> EGRESS = Map.of(
            "EGRESS_SERVICE", "sandglass-egress-proxy",
            "EGRESS_SECRET_FILE", "/etc/sandglass/egress/egressSecret");

    private static OperatorSettings with(Map<String, String> more) {
        Map<String, String> all = new HashMap<>(REQUIRED);
        all.putAll(more);
        return OperatorSettings.of(all);
    }

    @Test
    void theDefaultsAreThese() {
        assertThat(with(Map.of()))
                .isEqualTo(new OperatorSettings(
                        Set.of("tenant-a"),
                        false,
                        Path.of("/etc/sandglass/link"),
                        "sandglass-system",
                        new PodSettings(
                                new ImagePolicy("registry.example.com/kernel:1", List.of()),
                                Duration.ofHours(8),
                                new NamespaceAccount("sandglass-sandbox", List.of()),
                                RuntimeClassPolicy.DEFAULT_ONLY,
                                new SandboxUsers(true, 1_879_048_192L, 268_435_456L),
                                Scheduling.anywhere(RATIOS)),
                        new Deadlines(Duration.ofMinutes(30), Duration.ofHours(8), Duration.ofHours(24)),
                        8081,
                        Optional.empty(),
                        new ProbeSettings(Optional.empty(), Optional.empty(), true),
                        Optional.empty()));
    }

    @Test
    void sandboxesTryTheApiServerAsEveryContainerKnowsItAndTheGateway() {
        assertThat(with(Map.of(
                                "KUBERNETES_SERVICE_HOST", "10.96.0.1",
                                "KUBERNETES_SERVICE_PORT", "6443",
                                "OPERATOR_API_SERVER_PORTS", "8443, 443",
                                "OPERATOR_GATEWAY_SERVICE", "sandglass-gateway",
                                "OPERATOR_REQUIRE_ENFORCEMENT", "false"))
                        .probe())
                .isEqualTo(new ProbeSettings(
                        Optional.of(new ClosedAddress("10.96.0.1", 6443, Set.of(443, 8443))),
                        Optional.of("sandglass-gateway"),
                        false));
    }

    @Test
    void requestRatiosOfCpuAndMemoryAreSetApart() {
        assertThat(with(Map.of("OPERATOR_CPU_REQUEST_RATIO", "0.1", "OPERATOR_MEMORY_REQUEST_RATIO", "1"))
                        .pods()
                        .scheduling()
                        .requestRatios())
                .isEqualTo(new RequestRatios(new BigDecimal("0.1"), BigDecimal.ONE));
    }

    /** A sandbox can look up no name. */
    @Test
    void anApiServerThatIsKnownByNameIsNotTried() {
        assertThat(with(Map.of("KUBERNETES_SERVICE_HOST", "api.example.com"))
                        .probe()
                        .apiServer())
                .isEmpty();
    }

    @Test
    void everyVariableHasItsPlace() {
        Map<String, String> variables = new HashMap<>(Map.of(
                "OPERATOR_NAMESPACES", "tenant-b, tenant-a,",
                "OPERATOR_ALLOWED_IMAGES", "registry.example.com/team/*,localhost/**",
                "OPERATOR_SERVICE_ACCOUNT", "nobody",
                "OPERATOR_PRIORITY_CLASS_NAME", "low",
                "OPERATOR_RUNTIME_CLASS_NAME", "gvisor",
                "OPERATOR_IDLE_TIMEOUT", "5m",
                "OPERATOR_MAX_LIFETIME", "1h30m",
                "OPERATOR_RETENTION", "90s",
                "OPERATOR_HTTP_PORT", "9000"));
        variables.put("OPERATOR_HOST_USERS", "false");
        variables.put("OPERATOR_UIDS_FROM", "65536");
        variables.put("OPERATOR_UIDS_COUNT", "1");
        variables.put("OPERATOR_TENANTS_BY_LABEL", "true");
        variables.put("OPERATOR_ALLOWED_RUNTIME_CLASSES", "kata-*, runsc");
        variables.put("OPERATOR_MAX_SESSIONS", "64");

        OperatorSettings settings = with(variables);

        assertThat(settings.namespaces()).containsExactlyInAnyOrder("tenant-a", "tenant-b");
        assertThat(settings.namespaceList()).isEqualTo("tenant-a,tenant-b");
        assertThat(settings.tenants())
                .isEqualTo(new TenantNamespaces(Set.of("tenant-a", "tenant-b"), true, "sandglass-system"));
        assertThat(settings.pods())
                .isEqualTo(new PodSettings(
                        new ImagePolicy(
                                "registry.example.com/kernel:1",
                                List.of("registry.example.com/team/*", "localhost/**")),
                        Duration.ofMinutes(90),
                        new NamespaceAccount("nobody", List.of()),
                        new RuntimeClassPolicy(Optional.of("gvisor"), List.of("kata-*", "runsc")),
                        new SandboxUsers(false, 65_536, 1),
                        new Scheduling(RATIOS, Optional.of("low"), Placement.ANYWHERE),
                        Optional.empty(),
                        Optional.empty(),
                        64));
        assertThat(settings.deadlines())
                .isEqualTo(new Deadlines(Duration.ofMinutes(5), Duration.ofMinutes(90), Duration.ofSeconds(90)));
        assertThat(settings.httpPort()).isEqualTo(9000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "65", "-1", "many", "1.5"})
    void sessionsHaveABound(String most) {
        assertThatThrownBy(() -> with(Map.of("OPERATOR_MAX_SESSIONS", most)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("OPERATOR_MAX_SESSIONS");
    }

    @Test
    void anElectionIsInTheOperatorsNamespace() {
        Map<String, String> variables =
                new HashMap<>(Map.of("OPERATOR_LEADER_ELECTION", "true", "OPERATOR_NAMESPACE", "sandglass-system"));
        assertThat(with(variables).leaderElection())
                .contains(new Election("sandglass-system", "sandglass-operator", Optional.empty()));

        variables.put("OPERATOR_OWN_ACCOUNT", "sandglass-operator");
        variables.put("OPERATOR_LEASE", "second-operator");
        assertThat(with(variables).leaderElection())
                .contains(new Election("sandglass-system", "second-operator", Optional.of("sandglass-operator")));
    }

    @Test
    void pullSecretsAreThoseOfTheAccount() {
        assertThat(with(Map.of("OPERATOR_IMAGE_PULL_SECRETS", "pull, mirror"))
                        .pods()
                        .account())
                .isEqualTo(new NamespaceAccount("sandglass-sandbox", List.of("pull", "mirror")));
    }

    @Test
    void theSitesAuthoritiesAreReadAtOnce(@TempDir Path folder) throws IOException {
        String site = "src/test/resources/authorities/site.pem";
        assertThat(with(Map.of("TRUSTED_CA_FILE", site)).pods().authorities()).isPresent();

        Path key = Files.writeString(
                folder.resolve("key"), "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");
        Path large = Files.write(folder.resolve("large"), new byte[TrustedAuthorities.MAX_BYTES + 1]);
        Path absent = folder.resolve("absent");
        for (Path wrong : List.of(key, large, absent)) {
            assertThatThrownBy(() -> with(Map.of("TRUSTED_CA_FILE", wrong.toString())))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("TRUSTED_CA_FILE")
                    .hasMessageContaining(wrong.toString())
                    .hasMessageNotContaining("c2VjcmV0");
        }
    }

    @Test
    void nodesAreChosenInJson() {
        OperatorSettings settings = with(Map.of(
                "OPERATOR_NODE_SELECTOR", "{\"example.com/pool\": \"sandboxes\"}",
                "OPERATOR_TOLERATIONS", "[{\"key\": \"example.com/pool\", \"operator\": \"Exists\"}]"));

        assertThat(settings.pods().scheduling().placement())
                .isEqualTo(new Placement(
                        Map.of("example.com/pool", "sandboxes"),
                        List.of(new TolerationBuilder()
                                .withKey("example.com/pool")
                                .withOperator("Exists")
                                .build())));
    }

    @Test
    void theWayOutHasItsSettingsWhereThereIsAnEgressProxy() {
        Map<String, String> variables = new HashMap<>(EGRESS);
        variables.put("EGRESS_CLUSTER_RANGES", "198.18.4.0/24, 8.8.8.0/24");
        variables.put("EGRESS_ALLOWED_RANGES", "10.1.0.0/16");
        variables.put("EGRESS_OPEN_PERMITTED", "true");
        variables.put("EGRESS_SPLIT_DNS", "true");
        variables.put("EGRESS_DEFAULT_DOMAINS", "example.com, 10.1.2.3:5432, *");

        OperatorSettings settings = with(variables);
        EgressSettings egress = settings.egress().orElseThrow();

        assertThat(egress.service()).isEqualTo("sandglass-egress-proxy");
        assertThat(egress.secretFile()).isEqualTo(Path.of("/etc/sandglass/egress/egressSecret"));
        assertThat(egress.walls().openPermitted()).isTrue();
        assertThat(egress.walls().splitDns()).isTrue();
        assertThat(egress.walls().defaults().entries()).containsExactly("example.com", "10.1.2.3:5432", "*");
        assertThat(egress.walls().denied().denying(IpAddress.parse("10.1.2.3"))).isEmpty();
        assertThat(egress.walls().denied().denying(IpAddress.parse("8.8.8.8"))).isPresent();
        assertThat(settings.pods().egress()).contains(egress.walls());
        Egress usual = with(EGRESS).egress().orElseThrow().walls();
        assertThat(usual.openPermitted()).isFalse();
        assertThat(usual.splitDns()).isFalse();
        assertThat(usual.defaults()).isEqualTo(DefaultDomains.NONE);
    }

    @ParameterizedTest
    @CsvSource({
        "EGRESS_SECRET_FILE, '', EGRESS_SECRET_FILE is not set",
        "EGRESS_CLUSTER_RANGES, 10.0.0.1/8, EGRESS_CLUSTER_RANGES: 10.0.0.1/8 has bits beyond its prefix",
        "EGRESS_ALLOWED_RANGES, private, EGRESS_ALLOWED_RANGES: 'private' is not an IPv4 address",
        "EGRESS_ALLOWED_RANGES, 8.8.8.0/24, EGRESS_ALLOWED_RANGES: the allowance 8.8.8.0/24 does not lie within",
        "EGRESS_OPEN_PERMITTED, yes, EGRESS_OPEN_PERMITTED must be true or false",
        "EGRESS_SPLIT_DNS, 1, EGRESS_SPLIT_DNS must be true or false",
        "EGRESS_DEFAULT_DOMAINS, *, EGRESS_DEFAULT_DOMAINS (the chart's value egressProxy.defaultDomains): '*' counts only",
        "EGRESS_DEFAULT_DOMAINS, http://a.example, egressProxy.defaultDomains): 'http://a.example' is a URL",
        "EGRESS_DEFAULT_DOMAINS, 10.1.2.3, egressProxy.defaultDomains): '10.1.2.3' is not public (private)",
    })
    void whatIsWrongAboutTheWayOutIsTold(String name, String value, String message) {
        Map<String, String> variables = new HashMap<>(EGRESS);
        variables.put(name, value);

        assertThatThrownBy(() -> with(variables))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void theInstallationsListHasAtMost64Entries() {
        Map<String, String> variables = new HashMap<>(EGRESS);
        variables.put("EGRESS_DEFAULT_DOMAINS", String.join(",", Collections.nCopies(64, "example.com")));
        assertThat(with(variables).egress().orElseThrow().walls().defaults().entries())
                .hasSize(64);

        variables.put("EGRESS_DEFAULT_DOMAINS", String.join(",", Collections.nCopies(65, "example.com")));
        assertThatThrownBy(() -> with(variables))
                .hasMessageStartingWith("EGRESS_DEFAULT_DOMAINS")
                .hasMessageEndingWith("at most 64 domains can be allowed, not 65");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "OPERATOR_NAMESPACES",
                "OPERATOR_DEFAULT_IMAGE",
                "OPERATOR_LINK_SECRET_FILE",
                "OPERATOR_GATEWAY_NAMESPACE"
            })
    void whatIsRequiredIsNamedWhenItIsMissing(String name) {
        assertThatThrownBy(() -> with(Map.of(name, " "))).hasMessage(name + " is not set");
    }

    @ParameterizedTest
    @CsvSource({
        "OPERATOR_CPU_REQUEST_RATIO, half, OPERATOR_CPU_REQUEST_RATIO must be a number",
        "OPERATOR_CPU_REQUEST_RATIO, 0, OPERATOR_CPU_REQUEST_RATIO must be above 0 and at most 1",
        "OPERATOR_CPU_REQUEST_RATIO, 1.5, OPERATOR_CPU_REQUEST_RATIO must be above 0 and at most 1",
        "OPERATOR_MEMORY_REQUEST_RATIO, -0.1, OPERATOR_MEMORY_REQUEST_RATIO must be above 0 and at most 1",
        "OPERATOR_IDLE_TIMEOUT, 30, OPERATOR_IDLE_TIMEOUT: '30' is not a duration",
        "OPERATOR_IDLE_TIMEOUT, 0s, at least one second",
        "OPERATOR_MAX_LIFETIME, -1h, is not a duration",
        "OPERATOR_RETENTION, 1m1h, is not a duration",
        "OPERATOR_NODE_SELECTOR, pool=sandboxes, OPERATOR_NODE_SELECTOR is not the JSON",
        "OPERATOR_TOLERATIONS, {}, OPERATOR_TOLERATIONS is not the JSON",
        "OPERATOR_HOST_USERS, no, OPERATOR_HOST_USERS must be true or false",
        "OPERATOR_UIDS_FROM, 65535, must lie between 65536 and 2147483647",
        "OPERATOR_UIDS_FROM, 65536.5, OPERATOR_UIDS_FROM must be a whole number",
        "OPERATOR_UIDS_FROM, 1e400, OPERATOR_UIDS_FROM must be a whole number",
        "OPERATOR_UIDS_FROM, 1879048193, must lie between 65536 and 2147483647",
        "OPERATOR_UIDS_COUNT, 0, must lie between 65536 and 2147483647",
        "OPERATOR_UIDS_COUNT, 268435457, must lie between 65536 and 2147483647",
        "OPERATOR_LEADER_ELECTION, true, OPERATOR_NAMESPACE is not set",
    })
    void whatIsWrongIsTold(String name, String value, String message) {
        assertThatThrownBy(() -> with(Map.of(name, value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}
