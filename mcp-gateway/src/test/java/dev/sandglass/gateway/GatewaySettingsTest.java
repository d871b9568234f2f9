package dev.sandglass.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.http.ConnectionSettings;
import dev.sandglass.gateway.kubernetes.KubernetesSettings;
import dev.sandglass.gateway.mcp.McpSettings;
import dev.sandglass.gateway.port.PortSettings;
import dev.sandglass.gateway.toolserver.AgentServerSettings;
import dev.sandglass.gateway.websocket.SocketSettings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Defaults are exactly these, and every environment variable of the chart reaches its field. */
class GatewaySettingsTest {

    private static final Map<String, Object> LEAST =
            Map.of("GATEWAY_API_KEYS_DIR", "/keys", "GATEWAY_LINK_SECRET_FILE", "/secret/link");

    private static GatewaySettings settings(Map<String, Object> environment) {
        var sources = new StandardEnvironment();
        sources.getPropertySources()
                .forEach(source -> sources.getPropertySources().remove(source.getName()));
        sources.getPropertySources().addFirst(new SystemEnvironmentPropertySource("systemEnvironment", environment));
        return new Binder(ConfigurationPropertySources.get(sources)).bindOrCreate("gateway", GatewaySettings.class);
    }

    @Test
    void defaults() {
        assertThat(settings(LEAST))
                .isEqualTo(new GatewaySettings(
                        List.of("default=sandglass-default"),
                        false,
                        0,
                        Path.of("/keys"),
                        false,
                        Set.of(),
                        List.of(),
                        "mcp-gateway",
                        new GatewaySettings.Link(Path.of("/secret/link"), null),
                        new McpSettings(8 * 1024 * 1024, 24 << 20, 64 << 20, Duration.ofSeconds(10)),
                        new ToolSettings(
                                Duration.ofMinutes(2),
                                Duration.ofHours(1),
                                Duration.ofSeconds(50),
                                20_000,
                                Duration.ofSeconds(50),
                                Duration.ofSeconds(2)),
                        new KubernetesSettings(Duration.ofMinutes(30), Duration.ofSeconds(5), Duration.ofSeconds(5)),
                        new PortSettings(
                                null,
                                Duration.ofHours(1),
                                Duration.ofMinutes(5),
                                Duration.ofSeconds(5),
                                64,
                                384,
                                512,
                                PortSettings.ReachedBy.LINKS,
                                new SocketSettings(4 << 20, 16 << 20, 24 << 20, 40 << 20, Duration.ofSeconds(30))),
                        new ConnectionSettings(Duration.ofSeconds(10), 512, 4096),
                        new GatewaySettings.Egress(null, null, 3129, false, ""),
                        new AgentServerSettings(AgentServerSettings.Permitted.HTTP, List.of()),
                        null,
                        null));
    }

    @Test
    void whatAgentsMayRegisterIsAsTheChartSays() {
        GatewaySettings settings = settings(Map.of(
                "GATEWAY_API_KEYS_DIR",
                "/keys",
                "GATEWAY_LINK_SECRET_FILE",
                "/s",
                "GATEWAY_AGENT_SERVERS_PERMITTED",
                "all",
                "GATEWAY_AGENT_SERVERS_PACKAGE_REGISTRIES",
                "a.example.com,b.example.com:8443"));

        assertThat(settings.agentServers())
                .isEqualTo(new AgentServerSettings(
                        AgentServerSettings.Permitted.ALL, List.of("a.example.com", "b.example.com:8443")));
    }

    @Test
    void environmentVariablesReachTheirFields() {
        GatewaySettings settings = settings(Map.ofEntries(
                Map.entry("GATEWAY_API_KEYS_DIR", "/keys"),
                Map.entry("GATEWAY_LINK_SECRET_FILE", "/s"),
                Map.entry("GATEWAY_TENANTS", "a=ns-a,b=ns-b"),
                Map.entry("GATEWAY_TENANTS_BY_LABEL", "true"),
                Map.entry("GATEWAY_TENANTS_ON_DEMAND", "7"),
                Map.entry("GATEWAY_ALLOWED_ORIGINS", "https://a.example,https://b.example"),
                Map.entry("GATEWAY_TRUSTED_PROXIES", "10.0.3.0/24,fd00::/64"),
                Map.entry("GATEWAY_INSTANCE", "pod-1"),
                Map.entry("GATEWAY_MCP_MAX_BODY_BYTES", "1000"),
                Map.entry("GATEWAY_MCP_KEEP_ALIVE", "3s"),
                Map.entry("GATEWAY_TOOL_TIMEOUT", "10s"),
                Map.entry("GATEWAY_TOOL_MAX_TIMEOUT", "20s"),
                Map.entry("GATEWAY_TOOL_WAIT_FOR", "5s"),
                Map.entry("GATEWAY_TOOL_MAX_OUTPUT_CHARS", "99"),
                Map.entry("GATEWAY_TOOL_START_WAIT", "7s"),
                Map.entry("GATEWAY_TOOL_METRICS_WAIT", "1s"),
                Map.entry("GATEWAY_KUBERNETES_IDLE_TIMEOUT", "1h"),
                Map.entry("GATEWAY_KUBERNETES_TROUBLE_GRACE", "2s"),
                Map.entry("GATEWAY_KUBERNETES_REQUEST_TIMEOUT", "4s")));

        assertThat(settings.tenants()).containsExactly("a=ns-a", "b=ns-b");
        assertThat(settings.tenantsByLabel()).isTrue();
        assertThat(settings.tenantsOnDemand()).isEqualTo(7);
        assertThat(settings.allowedOrigins()).containsExactlyInAnyOrder("https://a.example", "https://b.example");
        assertThat(settings.trustedProxies()).containsExactly("10.0.3.0/24", "fd00::/64");
        assertThat(settings.instance()).isEqualTo("pod-1");
        assertThat(settings.mcp()).isEqualTo(new McpSettings(1000, 24 << 20, 64 << 20, Duration.ofSeconds(3)));
        assertThat(settings.tool())
                .isEqualTo(new ToolSettings(
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(20),
                        Duration.ofSeconds(5),
                        99,
                        Duration.ofSeconds(7),
                        Duration.ofSeconds(1)));
        assertThat(settings.kubernetes())
                .isEqualTo(new KubernetesSettings(Duration.ofHours(1), Duration.ofSeconds(2), Duration.ofSeconds(4)));
    }

    @Test
    void environmentVariablesOfPortsReachTheirFields() {
        GatewaySettings settings = settings(Map.ofEntries(
                Map.entry("GATEWAY_API_KEYS_DIR", "/keys"),
                Map.entry("GATEWAY_LINK_SECRET_FILE", "/s"),
                Map.entry("GATEWAY_PORT_PUBLIC_URL", "https://sandglass.example.com/"),
                Map.entry("GATEWAY_PORT_LINK_LIFETIME", "10m"),
                Map.entry("GATEWAY_PORT_IDLE_TIMEOUT", "1m"),
                Map.entry("GATEWAY_PORT_CONNECT_TIMEOUT", "2s"),
                Map.entry("GATEWAY_PORT_MAX_CONNECTIONS_PER_SANDBOX", "3"),
                Map.entry("GATEWAY_PORT_MAX_CONNECTIONS_PER_TENANT", "4"),
                Map.entry("GATEWAY_PORT_MAX_CONNECTIONS", "5"),
                Map.entry("GATEWAY_PORT_REACHED_BY", "keys"),
                Map.entry("GATEWAY_PORT_SOCKETS_MAX_FRAME_BYTES", "10")));

        assertThat(settings.port())
                .isEqualTo(new PortSettings(
                        URI.create("https://sandglass.example.com/"),
                        Duration.ofMinutes(10),
                        Duration.ofMinutes(1),
                        Duration.ofSeconds(2),
                        3,
                        4,
                        5,
                        PortSettings.ReachedBy.KEYS,
                        new SocketSettings(10, 16 << 20, 24 << 20, 40 << 20, Duration.ofSeconds(30))));
    }

    @Test
    void theSecretThatWasReplacedReachesItsField() {
        Map<String, Object> variables = new HashMap<>(LEAST);
        variables.put("GATEWAY_LINK_PREVIOUS_SECRET_FILE", "/before");
        assertThat(settings(variables).link())
                .isEqualTo(new GatewaySettings.Link(Path.of("/secret/link"), Path.of("/before")));
    }

    @Test
    void theEgressProxyIsSetAsAWhole() {
        Map<String, Object> whole = Map.of(
                "GATEWAY_API_KEYS_DIR", "/keys",
                "GATEWAY_LINK_SECRET_FILE", "/s",
                "GATEWAY_EGRESS_SERVICE", "egress",
                "GATEWAY_EGRESS_SECRET_FILE", "/e",
                "GATEWAY_EGRESS_DENIALS_PORT", "4000",
                "GATEWAY_NAMESPACE", "sandglass");
        assertThat(settings(whole).egress())
                .isEqualTo(new GatewaySettings.Egress("egress", Path.of("/e"), 4000, false, ""));
        assertThat(settings(whole).namespace()).isEqualTo("sandglass");
        for (String missing : List.of("GATEWAY_EGRESS_SERVICE", "GATEWAY_EGRESS_SECRET_FILE", "GATEWAY_NAMESPACE")) {
            Map<String, Object> part = new HashMap<>(whole);
            part.remove(missing);
            assertThatThrownBy(() -> settings(part)).rootCause().hasMessageContaining("must be set together");
        }
    }

    @Test
    void tenantsOnDemandComeByLabel() {
        Map<String, Object> variables = new HashMap<>(LEAST);
        variables.put("GATEWAY_TENANTS_ON_DEMAND", "1");
        assertThatThrownBy(() -> settings(variables)).rootCause().hasMessageContaining("GATEWAY_TENANTS_BY_LABEL");
        variables.put("GATEWAY_TENANTS_BY_LABEL", "true");
        assertThat(settings(variables).tenantsOnDemand()).isEqualTo(1);
        variables.put("GATEWAY_TENANTS_ON_DEMAND", "-1");
        assertThatThrownBy(() -> settings(variables)).rootCause().hasMessageContaining("GATEWAY_TENANTS_ON_DEMAND");
    }

    @Test
    void theGatewaysOwnServiceNeedsItsNamespace() {
        Map<String, Object> variables = new HashMap<>(LEAST);
        variables.put("GATEWAY_SERVICE", "gateway");
        assertThatThrownBy(() -> settings(variables)).rootCause().hasMessageContaining("GATEWAY_NAMESPACE");
        variables.put("GATEWAY_NAMESPACE", "sandglass");
        assertThat(settings(variables).service()).isEqualTo("gateway");
    }

    /** With the list of the installation, and whether everything is permitted. */
    private static Map<String, Object> proxy(String domains, boolean openPermitted) {
        Map<String, Object> variables = new HashMap<>(LEAST);
        variables.put("GATEWAY_EGRESS_SERVICE", "egress");
        variables.put("GATEWAY_EGRESS_SECRET_FILE", "/e");
        variables.put("GATEWAY_NAMESPACE", "sandglass");
        variables.put("GATEWAY_EGRESS_DEFAULT_DOMAINS", domains);
        variables.put("GATEWAY_EGRESS_OPEN_PERMITTED", Boolean.toString(openPermitted));
        return variables;
    }

    @Test
    void theInstallationsListIsReadWhereThereIsAnEgressProxy() {
        Map<String, Object> variables = proxy("example.com,*.example.org:8443,[2606:2800:21::1]:5432,*", true);
        assertThat(settings(variables).egress().defaults().entries())
                .containsExactly("example.com", "*.example.org:8443", "[2606:2800:21::1]:5432", "*");
        assertThat(settings(proxy("", false)).egress().defaults()).isEqualTo(DefaultDomains.NONE);
        List.of("GATEWAY_EGRESS_SERVICE", "GATEWAY_EGRESS_SECRET_FILE", "GATEWAY_NAMESPACE")
                .forEach(variables::remove);
        assertThat(settings(variables).egress().defaults()).isEqualTo(DefaultDomains.NONE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "https://example.com | 'https://example.com' is a URL",
                "example.com,* | '*' counts only with egressProxy.permitOpen",
                "*.co.uk | '*.co.uk' would allow names of everybody",
            })
    void anInstallationsListThatIsWrongIsRefusedByName(String domains, String words) {
        assertThatThrownBy(() -> settings(proxy(domains, false)))
                .hasStackTraceContaining("gateway.egress.default-domains (GATEWAY_EGRESS_DEFAULT_DOMAINS, the chart's"
                        + " value egressProxy.defaultDomains): " + words);
    }

    @Test
    void theInstallationsListHasAtMost64Entries() {
        String most = String.join(",", Collections.nCopies(64, "example.com"));
        assertThat(settings(proxy(most, false)).egress().defaults().entries()).hasSize(64);
        assertThatThrownBy(() -> settings(proxy(most + ",example.com", false)))
                .rootCause()
                .hasMessageContaining("at most 64 domains can be allowed, not 65");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"sandglass.example.com", "ftp://a.example", "https://a.example/?x=1", "https://u@a.example"})
    void aPublicUrlThatIsNoneIsRefused(String url) {
        assertThatThrownBy(() -> settings(Map.of(
                        "GATEWAY_API_KEYS_DIR", "/keys",
                        "GATEWAY_LINK_SECRET_FILE", "/s",
                        "GATEWAY_PORT_PUBLIC_URL", url)))
                .rootCause()
                .hasMessageContaining("GATEWAY_PORT_PUBLIC_URL");
    }

    @Test
    void whatIsMissingIsNamed() {
        assertThatThrownBy(() -> settings(Map.of("GATEWAY_LINK_SECRET_FILE", "/s")))
                .rootCause()
                .hasMessageContaining("GATEWAY_API_KEYS_DIR");
        assertThatThrownBy(() -> settings(Map.of("GATEWAY_UNAUTHENTICATED", "true")))
                .rootCause()
                .hasMessageContaining("GATEWAY_LINK_SECRET_FILE");
    }
}
