package dev.sandglass.gateway;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.gateway.action.Actions;
import dev.sandglass.gateway.action.OwnPods;
import dev.sandglass.gateway.adoption.Adoption;
import dev.sandglass.gateway.caller.Callers;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Contract;
import dev.sandglass.gateway.contract.dropin.codemode.CodeModeContract;
import dev.sandglass.gateway.contract.dropin.ipybox.IpyboxContract;
import dev.sandglass.gateway.contract.dropin.ipython.IpythonContract;
import dev.sandglass.gateway.contract.sandglass.SandglassContract;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.http.ConnectionLimiter;
import dev.sandglass.gateway.http.UnreadableRequests;
import dev.sandglass.gateway.kubernetes.KubernetesSandboxes;
import dev.sandglass.gateway.kubernetes.LabelledNamespaces;
import dev.sandglass.gateway.kubernetes.ServiceReplicas;
import dev.sandglass.gateway.kubernetes.SharedToolServers;
import dev.sandglass.gateway.link.call.DrainableCalls;
import dev.sandglass.gateway.mcp.CancellationRelay;
import dev.sandglass.gateway.mcp.McpRoute;
import dev.sandglass.gateway.port.PortAddresses;
import dev.sandglass.gateway.port.PortRoute;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.toolcall.SharedServerList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.reactor.netty.NettyRouteProvider;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import reactor.netty.resources.LoopResources;

/** Builds the rooms {@code action}, {@code contract} and {@code mcp}, and starts and ends the whole. */
@Configuration(proxyBeanMethods = false)
class McpConfiguration {

    @Bean
    Actions actions(
            Sandboxes sandboxes, Executions executions, DeniedHosts denied, SharedServerList shared, OwnPods ownPods) {
        return Actions.of(sandboxes, executions, denied, shared, ownPods);
    }

    @Bean
    Contract sandglassContract(Actions actions, TenantAccess access, PortAddresses ports, GatewaySettings settings) {
        return new SandglassContract(actions, access, ports, settings.tool());
    }

    @Bean
    Contract ipythonContract(Actions actions, TenantAccess access, LinkSecret secret, GatewaySettings settings) {
        return new IpythonContract(actions, access, secret, settings.tool());
    }

    @Bean
    Contract codeModeContract(Actions actions, TenantAccess access, LinkSecret secret, GatewaySettings settings) {
        return new CodeModeContract(actions, access, secret, settings.tool());
    }

    @Bean
    Contract ipyboxContract(Actions actions, TenantAccess access, LinkSecret secret, GatewaySettings settings) {
        return new IpyboxContract(actions, access, secret, settings.tool());
    }

    @Bean
    McpRoute endpoint(
            Callers callers,
            TenantAccess access,
            List<Contract> contracts,
            GatewaySettings settings,
            CancellationRelay others,
            MeterRegistry meters) {
        var entrants = new McpRoute.Entrants(callers, access, settings.allowedOrigins());
        return McpRoute.of(contracts, entrants, settings.mcp(), version(), others, meters);
    }

    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    NettyRouteProvider mcpRoute(McpRoute endpoint) {
        return endpoint::apply;
    }

    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    NettyRouteProvider frontPage() {
        return new FrontPage()::apply;
    }

    /** Behind all others, which have an order for that. */
    @Bean
    @Order(Ordered.LOWEST_PRECEDENCE)
    NettyRouteProvider elsewhere(McpRoute endpoint) {
        return endpoint::elsewhere;
    }

    @Bean(destroyMethod = "close")
    CancellationRelay otherReplicas(LoopResources loops, @Value("${server.port}") int port) {
        return new CancellationRelay(loops, port);
    }

    @Bean(initMethod = "start", destroyMethod = "close")
    @ConditionalOnProperty("gateway.service")
    ServiceReplicas gatewayReplicas(
            GatewaySettings settings, KubernetesClient client, CancellationRelay others, Adoption adoption) {
        return new ServiceReplicas(
                        client,
                        Objects.requireNonNull(settings.namespace(), "namespace is null"),
                        Objects.requireNonNull(settings.service(), "service is null"),
                        settings.instance(),
                        others::follow)
                .telling(adoption::serving);
    }

    @Bean
    SmartLifecycle gatewayLifecycle(
            KubernetesSandboxes sandboxes,
            SharedToolServers servers,
            Optional<LabelledNamespaces> labelled,
            Executions executions,
            Adoption adoption) {
        return new GatewayLifecycle(sandboxes, servers, labelled, executions, adoption);
    }

    @Bean
    SmartLifecycle podCallsLifecycle(DrainableCalls calls) {
        return new PodCallsLifecycle(calls);
    }

    /**
     * A client whose machine or network vanished sends no end: the kernel finds out within a minute, so that its call is
     * cancelled as if it had closed the connection.
     */
    @Bean
    NettyServerCustomizer vanishedClients() {
        return server -> server.childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(EpollChannelOption.TCP_KEEPIDLE, 30)
                .childOption(EpollChannelOption.TCP_KEEPINTVL, 10)
                .childOption(EpollChannelOption.TCP_KEEPCNT, 3)
                .childOption(EpollChannelOption.TCP_USER_TIMEOUT, 60_000);
    }

    /** Strangers can hold some connections for a short time, and none that a caller needs. */
    @Bean
    NettyServerCustomizer boundedConnections(GatewaySettings settings) {
        return server -> ConnectionLimiter.of(server, settings.connections());
    }

    /** Clients of MCP read why a request was not one of HTTP; paths of ports have answers of their own. */
    @Bean
    NettyServerCustomizer unreadableRequests(McpRoute endpoint) {
        return server -> UnreadableRequests.of(server, endpoint::refusal, PortRoute::isPort);
    }

    private static String version() {
        return Optional.ofNullable(McpConfiguration.class.getPackage().getImplementationVersion())
                .orElse("development");
    }

    /**
     * Connects to the cluster once the application stands. On the way down it comes before the web server's graceful
     * shutdown, which waits for the calls under way: they are answered now, and what they run goes on in the sandboxes.
     */
    private static final class GatewayLifecycle implements SmartLifecycle {
        private static final Logger LOG = LoggerFactory.getLogger(GatewayLifecycle.class);

        private final KubernetesSandboxes sandboxes;
        private final SharedToolServers servers;
        private final Optional<LabelledNamespaces> labelled;
        private final Executions executions;
        private final Adoption adoption;
        private volatile boolean running;

        private GatewayLifecycle(
                KubernetesSandboxes sandboxes,
                SharedToolServers servers,
                Optional<LabelledNamespaces> labelled,
                Executions executions,
                Adoption adoption) {
            this.sandboxes = sandboxes;
            this.servers = servers;
            this.labelled = labelled;
            this.executions = executions;
            this.adoption = adoption;
        }

        @Override
        public void start() {
            labelled.ifPresent(LabelledNamespaces::start);
            sandboxes.start();
            servers.start();
            adoption.start();
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            // What it would take over now would be without a gateway in a moment.
            adoption.close();
            LOG.info("Shutting down: calls that wait are answered, what they run goes on");
            executions.drain();
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }
}
