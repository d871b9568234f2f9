package dev.sandglass.gateway;

import dev.sandglass.api.egress.DefaultDomains;
import dev.sandglass.gateway.caller.TrustedProxies;
import dev.sandglass.gateway.contract.ToolSettings;
import dev.sandglass.gateway.http.ConnectionSettings;
import dev.sandglass.gateway.kubernetes.KubernetesSettings;
import dev.sandglass.gateway.mcp.McpSettings;
import dev.sandglass.gateway.port.PortSettings;
import dev.sandglass.gateway.toolserver.AgentServerSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Everything that can be set, read once at the start: properties {@code gateway.*}, as environment {@code GATEWAY_*}.
 *
 * @param tenants pairs {@code tenant=namespace} ({@code GATEWAY_TENANTS}, separated by commas)
 * @param tenantsByLabel whether a namespace with the label {@link dev.sandglass.api.SandboxLabels#TENANT} is that tenant's
 *     too, which needs rights in the whole cluster ({@code GATEWAY_TENANTS_BY_LABEL})
 * @param tenantsOnDemand how many tenants starts may make ({@code GATEWAY_TENANTS_ON_DEMAND}); needs tenantsByLabel
 * @param apiKeysDir folder of API key files ({@code GATEWAY_API_KEYS_DIR}); required unless unauthenticated
 * @param unauthenticated development mode: everybody may do everything, and only this machine is listened to
 *     ({@code GATEWAY_UNAUTHENTICATED})
 * @param allowedOrigins origins of web pages that may call, e.g. {@code https://agents.example.com}
 *     ({@code GATEWAY_ALLOWED_ORIGINS}); programs are not concerned
 * @param trustedProxies CIDRs of proxies whose {@code X-Forwarded-For} is believed ({@code GATEWAY_TRUSTED_PROXIES},
 *     separated by commas); without them a request comes from whoever is connected
 * @param instance how this replica calls itself to sandboxes and in logs ({@code GATEWAY_INSTANCE}), e.g. the pod's name
 * @param link how sandboxes are reached
 * @param mcp bounds of the endpoint
 * @param tool what callers get when they do not say
 * @param kubernetes how the API server is used
 * @param port how ports of sandboxes are made reachable
 * @param connections how many, and how long they may do nothing
 * @param egress the egress proxy, if there is one
 * @param agentServers which MCP servers agents may register in pods of their own
 * @param namespace in which the gateway itself runs ({@code GATEWAY_NAMESPACE}); required with either Service
 * @param service the gateway's own ({@code GATEWAY_SERVICE}), by which its replicas find each other; without it a
 *     cancellation only reaches calls of the replica at which it arrives
 */
@ConfigurationProperties("gateway")
public record GatewaySettings(
        @DefaultValue("default=sandglass-default") List<String> tenants,
        @DefaultValue("false") boolean tenantsByLabel,
        @DefaultValue("0") int tenantsOnDemand,
        @Nullable Path apiKeysDir,
        @DefaultValue("false") boolean unauthenticated,
        @DefaultValue Set<String> allowedOrigins,
        @DefaultValue List<String> trustedProxies,
        @DefaultValue("mcp-gateway") String instance,
        @DefaultValue Link link,
        @DefaultValue McpSettings mcp,
        @DefaultValue ToolSettings tool,
        @DefaultValue KubernetesSettings kubernetes,
        @DefaultValue PortSettings port,
        @DefaultValue ConnectionSettings connections,
        @DefaultValue Egress egress,
        @DefaultValue AgentServerSettings agentServers,
        @Nullable String namespace,
        @Nullable String service) {

    /**
     * How sandboxes are reached.
     *
     * @param secretFile the installation's link secret ({@code GATEWAY_LINK_SECRET_FILE}); required
     * @param previousSecretFile the one before it, for pods that started then
     *     ({@code GATEWAY_LINK_PREVIOUS_SECRET_FILE}); the file need not be there
     */
    public record Link(@Nullable Path secretFile, @Nullable Path previousSecretFile) {}

    /**
     * The way out of sandboxes: how refused hosts are heard of, all or nothing, and what is allowed without a list.
     *
     * @param service the egress proxy's Service ({@code GATEWAY_EGRESS_SERVICE})
     * @param secretFile the installation's egress secret ({@code GATEWAY_EGRESS_SECRET_FILE})
     * @param denialsPort of every replica ({@code GATEWAY_EGRESS_DENIALS_PORT})
     * @param openPermitted whether {@code *} and very wide ranges count ({@code GATEWAY_EGRESS_OPEN_PERMITTED})
     * @param defaultDomains what sandboxes without a list may reach, separated by commas
     *     ({@code GATEWAY_EGRESS_DEFAULT_DOMAINS})
     */
    public record Egress(
            @Nullable String service,
            @Nullable Path secretFile,
            @DefaultValue("3129") int denialsPort,
            @DefaultValue("false") boolean openPermitted,
            @DefaultValue("") String defaultDomains) {

        /** Refuses a list that could not be in force. */
        public Egress {
            parse(defaultDomains, openPermitted);
        }

        boolean isWhole(@Nullable String namespace) {
            return (service == null) == (secretFile == null) && (service == null || namespace != null);
        }

        /** What sandboxes without a list may reach; nothing where there is no egress proxy. */
        DefaultDomains defaults() {
            return service == null ? DefaultDomains.NONE : parse(defaultDomains, openPermitted);
        }

        private static DefaultDomains parse(String domains, boolean openPermitted) {
            try {
                return DefaultDomains.parse(domains, openPermitted);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "gateway.egress.default-domains (GATEWAY_EGRESS_DEFAULT_DOMAINS, the chart's value"
                                + " egressProxy.defaultDomains): " + e.getMessage(),
                        e);
            }
        }
    }

    /** Refuses what cannot work, naming the setting. */
    public GatewaySettings {
        if (apiKeysDir == null && !unauthenticated) {
            throw new IllegalArgumentException("gateway.api-keys-dir (GATEWAY_API_KEYS_DIR) must name the folder of API"
                    + " keys, or gateway.unauthenticated (GATEWAY_UNAUTHENTICATED) must be true for development");
        }
        if (link.secretFile() == null) {
            throw new IllegalArgumentException(
                    "gateway.link.secret-file (GATEWAY_LINK_SECRET_FILE) must name the file with the link secret");
        }
        if (tenantsOnDemand < 0 || (tenantsOnDemand > 0 && !tenantsByLabel)) {
            throw new IllegalArgumentException(
                    "gateway.tenants-on-demand (GATEWAY_TENANTS_ON_DEMAND) must be 0, or more"
                            + " than that with gateway.tenants-by-label (GATEWAY_TENANTS_BY_LABEL): such tenants come by label");
        }
        TrustedProxies.parse(trustedProxies);
        if (service != null && namespace == null) {
            throw new IllegalArgumentException(
                    "gateway.namespace (GATEWAY_NAMESPACE) must name the namespace of gateway.service (GATEWAY_SERVICE)");
        }
        if (!egress.isWhole(namespace)) {
            throw new IllegalArgumentException(
                    "gateway.egress.service, gateway.egress.secret-file and gateway.namespace"
                            + " (GATEWAY_EGRESS_SERVICE, GATEWAY_EGRESS_SECRET_FILE, GATEWAY_NAMESPACE) must be set together");
        }
    }
}
