package dev.sandglass.gateway;

import dev.sandglass.api.link.LinkSecret;
import dev.sandglass.api.watch.AsciiWatches;
import dev.sandglass.api.watch.ReadableSerialization;
import dev.sandglass.gateway.action.OwnPods;
import dev.sandglass.gateway.caller.Tenants;
import dev.sandglass.gateway.egress.DeniedHosts;
import dev.sandglass.gateway.execution.Executions;
import dev.sandglass.gateway.kubernetes.AbandonedServers;
import dev.sandglass.gateway.kubernetes.KubernetesAgentServers;
import dev.sandglass.gateway.kubernetes.KubernetesHandshakeNotes;
import dev.sandglass.gateway.kubernetes.KubernetesSandboxes;
import dev.sandglass.gateway.kubernetes.LabelledNamespaces;
import dev.sandglass.gateway.kubernetes.OnDemandNamespaces;
import dev.sandglass.gateway.kubernetes.SharedToolServers;
import dev.sandglass.gateway.link.LinkClient;
import dev.sandglass.gateway.link.LinkSecrets;
import dev.sandglass.gateway.link.LinkSettings;
import dev.sandglass.gateway.link.call.DrainableCalls;
import dev.sandglass.gateway.sandbox.Sandboxes;
import dev.sandglass.gateway.toolcall.SharedServerList;
import dev.sandglass.gateway.toolcall.ToolCalls;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.netty.resources.LoopResources;

/** Builds the rooms {@code kubernetes}, {@code link} and {@code execution}. */
@Configuration(proxyBeanMethods = false)
class SandboxConfiguration {

    @Bean
    ReadableSerialization kubernetesSerialization() {
        return new ReadableSerialization().knowingSandboxes();
    }

    /** What the API server sent and could not be read, since this replica started. */
    @Bean
    MeterBinder unreadableMeters(ReadableSerialization serialization) {
        return meters -> {
            unreadable("event", serialization, ReadableSerialization::unreadableEvents)
                    .register(meters);
            unreadable("object", serialization, ReadableSerialization::unreadableObjects)
                    .register(meters);
        };
    }

    private static FunctionCounter.Builder<ReadableSerialization> unreadable(
            String what, ReadableSerialization serialization, ToDoubleFunction<ReadableSerialization> count) {
        return FunctionCounter.builder("sandglass.api.unreadable", serialization, count)
                .tag("what", what)
                .description("Events of watches, and objects of lists, that could not be read");
    }

    @Bean(destroyMethod = "close")
    KubernetesClient kubernetesClient(GatewaySettings settings, ReadableSerialization serialization) {
        return client(settings.kubernetes().applyTo(Config.autoConfigure(null)), serialization);
    }

    static KubernetesClient client(Config config, ReadableSerialization serialization) {
        // A WebSocket that breaks is not always noticed by the client, and then the cache stands still (ADR 0020).
        config.setOnlyHttpWatches(true);
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withKubernetesSerialization(serialization)
                .withHttpClientBuilderConsumer(
                        http -> http.addOrReplaceInterceptor(AsciiWatches.NAME, new AsciiWatches()))
                .build();
    }

    @Bean(destroyMethod = "close")
    KubernetesSandboxes sandboxes(KubernetesClient client, Tenants tenants, GatewaySettings settings) {
        return new KubernetesSandboxes(
                client,
                namespaces(tenants, settings),
                settings.kubernetes(),
                settings.egress().defaults(),
                Clock.systemUTC());
    }

    @Bean(destroyMethod = "close")
    SharedToolServers sharedServers(
            KubernetesClient client, Tenants tenants, GatewaySettings settings, KubernetesSandboxes sandboxes) {
        return new SharedToolServers(client, namespaces(tenants, settings), sandboxes);
    }

    private static List<String> namespaces(Tenants tenants, GatewaySettings settings) {
        return settings.tenantsByLabel() ? List.of(KubernetesSandboxes.EVERYWHERE) : tenants.namedNamespaces();
    }

    @Bean
    SharedServerList sharedServerList(SharedToolServers servers, KubernetesSandboxes sandboxes) {
        return new SharedServerList(servers, sandboxes.ofServers()::find);
    }

    @Bean(destroyMethod = "close")
    KubernetesAgentServers agentServers(KubernetesClient client, SharedToolServers servers) {
        return new KubernetesAgentServers(client, servers);
    }

    @Bean(initMethod = "start", destroyMethod = "close")
    AbandonedServers abandonedServers(KubernetesClient client, SharedToolServers servers) {
        return new AbandonedServers(client, servers, Clock.systemUTC());
    }

    @Bean
    OwnPods ownPods(
            GatewaySettings settings, KubernetesAgentServers resources, SharedToolServers known, ToolCalls calls) {
        return new OwnPods(
                settings.agentServers(), settings.egress().defaults().entries(), resources, known, calls::start);
    }

    @Bean(destroyMethod = "close")
    KubernetesHandshakeNotes handshakeNotes(KubernetesClient client, KubernetesSandboxes sandboxes) {
        return new KubernetesHandshakeNotes(client, sandboxes);
    }

    /** The links need it, and it needs them: it takes them from the executions with the first call. */
    @Bean
    ToolCalls toolCalls(
            SharedToolServers servers,
            SharedServerList list,
            KubernetesSandboxes sandboxes,
            ObjectProvider<Executions> executions,
            MeterRegistry meters,
            ToolCalls.Reports reports) {
        return new ToolCalls(
                servers,
                list,
                sandboxes.ofServers(),
                child -> executions.getObject().link(child),
                meters,
                reports);
    }

    @Bean
    ToolCalls.Reports toolServerReports(KubernetesHandshakeNotes notes, DeniedHosts denied) {
        return new ToolCalls.Reports(notes, denied);
    }

    @Bean(destroyMethod = "close")
    @ConditionalOnBooleanProperty("gateway.tenants-by-label")
    LabelledNamespaces labelledNamespaces(KubernetesClient client) {
        return new LabelledNamespaces(client);
    }

    @Bean(destroyMethod = "close")
    @Conditional(OnTenantsOnDemand.class)
    OnDemandNamespaces onDemandNamespaces(
            KubernetesClient client, LabelledNamespaces labelled, GatewaySettings settings) {
        return new OnDemandNamespaces(client, labelled, settings.tenantsOnDemand());
    }

    /** Up once all sandboxes are known; an API server that goes away later does not concern it. */
    @Bean
    HealthIndicator sandboxesHealthIndicator(
            KubernetesSandboxes sandboxes, ObjectProvider<LabelledNamespaces> labelled) {
        return () -> {
            boolean synced = sandboxes.isSynced() && labelled.stream().allMatch(LabelledNamespaces::isSynced);
            return (synced ? Health.up() : Health.down()).build();
        };
    }

    /**
     * One event loop for the endpoint and the links, so that a call that runs code needs no thread but that one (ADR-0005);
     * a replica is as large as a processor, and there are as many replicas as are needed.
     */
    @Bean(destroyMethod = "dispose")
    LoopResources loops() {
        return LoopResources.create("gateway", 1, true);
    }

    @Bean
    ReactorResourceFactory reactorResources(LoopResources loops) {
        ReactorResourceFactory resources = new ReactorResourceFactory();
        resources.setUseGlobalResources(false);
        resources.setLoopResources(loops);
        return resources;
    }

    @Bean
    LinkSecrets linkSecrets(GatewaySettings settings) throws IOException {
        Path file = Objects.requireNonNull(settings.link().secretFile(), "secretFile is null");
        return LinkSecrets.read(file, settings.link().previousSecretFile());
    }

    @Bean
    LinkSecret linkSecret(LinkSecrets secrets) {
        return secrets.current();
    }

    @Bean
    DrainableCalls podCalls(ToolCalls calls) {
        return new DrainableCalls(calls);
    }

    @Bean(destroyMethod = "close")
    LinkClient linkClient(
            GatewaySettings settings,
            LoopResources loops,
            LinkSecrets secrets,
            DrainableCalls calls,
            KubernetesSandboxes sandboxes) {
        EventLoop loop = loops.onServer(true).next();
        return LinkClient.start(
                loop,
                loops.onChannelClass(SocketChannel.class, loop),
                LinkSettings.defaults(settings.instance()),
                secrets,
                calls,
                target -> target.seat()
                        .flatMap(seat -> sandboxes.configuration(target.sandboxUid(), target.incarnation(), seat)));
    }

    @Bean
    MeterBinder linkMeters(LinkClient links) {
        return meters -> {
            Gauge.builder("sandglass.links.open", links, all -> all.stats().open())
                    .description("Connections to sandboxes that are open")
                    .register(meters);
            FunctionCounter.builder("sandglass.network.unenforced", links, all -> all.stats()
                            .openNetworks())
                    .description("Sandboxes that got through to what their NetworkPolicies must close")
                    .register(meters);
        };
    }

    @Bean
    Executions executions(LinkClient links, Sandboxes sandboxes) {
        return new Executions(links, sandboxes::ends);
    }
}
