package dev.sandglass.egress;

import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.api.watch.AsciiWatches;
import dev.sandglass.api.watch.ReadableSerialization;
import dev.sandglass.egress.client.ClaimWaits;
import dev.sandglass.egress.client.ClientAdmission;
import dev.sandglass.egress.client.SandboxClients;
import dev.sandglass.egress.denial.Denial;
import dev.sandglass.egress.denial.DenialEvents;
import dev.sandglass.egress.denial.DenialsPort;
import dev.sandglass.egress.denial.Unreached;
import dev.sandglass.egress.name.DnsNames;
import dev.sandglass.egress.name.ResolverCheck;
import dev.sandglass.egress.proxy.EgressProxy;
import dev.sandglass.egress.splitdns.SplitDoors;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.resolver.dns.DnsServerAddressStreamProvider;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The egress proxy's process. It listens at once and answers 503 until it knows the sandboxes. It is not ready before a
 * resolver answered, so that an upgrade behind a NetworkPolicy that keeps it from the cluster's DNS leaves the replicas of
 * before; later it stays ready without one, for sandboxes that go by address.
 */
public final class EgressMain {

    private static final Logger LOG = LoggerFactory.getLogger(EgressMain.class);

    private EgressMain() {}

    /** Starts the proxy and returns; its threads go on until SIGTERM. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        EgressSettings settings = EgressSettings.fromEnvironment();
        PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new JvmMemoryMetrics().bindTo(metrics);
        new ProcessorMetrics().bindTo(metrics);
        KubernetesClient client = client(metrics);
        RunningProxy running =
                new RunningProxy(settings, client, EgressSecret.read(settings.secretFile()), metrics, null);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            running.close();
            client.close();
        }));
        LOG.atInfo()
                .addKeyValue("namespaces", String.join(",", settings.namespaces()))
                .addKeyValue("port", running.port())
                .log("The egress proxy runs");
    }

    static KubernetesClient client(MeterRegistry metrics) {
        ReadableSerialization serialization = new ReadableSerialization();
        unreadable("event", serialization, ReadableSerialization::unreadableEvents)
                .register(metrics);
        unreadable("object", serialization, ReadableSerialization::unreadableObjects)
                .register(metrics);
        return new KubernetesClientBuilder()
                .withKubernetesSerialization(serialization)
                .withHttpClientBuilderConsumer(
                        http -> http.addOrReplaceInterceptor(AsciiWatches.NAME, new AsciiWatches()))
                .withConfig(new ConfigBuilder(Config.autoConfigure(null))
                        // As in the operator: a WebSocket that breaks is not always noticed (ADR 0020).
                        .withOnlyHttpWatches(true)
                        // Watches come back by themselves, and no caller waits for a repeated request.
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }

    private static FunctionCounter.Builder<ReadableSerialization> unreadable(
            String what, ReadableSerialization serialization, ToDoubleFunction<ReadableSerialization> count) {
        return FunctionCounter.builder("sandglass.api.unreadable", serialization, count)
                .tag("what", what)
                .description("Events of watches, and objects of lists, that could not be read");
    }

    /** All parts of a proxy, put together. */
    static final class RunningProxy implements AutoCloseable {
        private static final Duration HEARTBEAT = Duration.ofSeconds(10);
        private static final Path RESOLV_CONF = Path.of("/etc/resolv.conf");

        /** None of them ever waits, so that more than there are processors would only take turns. */
        private final EventLoopGroup loops =
                new MultiThreadIoEventLoopGroup(Runtime.getRuntime().availableProcessors(), NioIoHandler.newFactory());

        private final DnsNames names;
        private final ResolverCheck resolvers;
        private final SandboxClients clients;
        private final Probes probes;
        private final DenialsPort denials;
        private final DenialEvents events;
        private final EgressProxy proxy;
        private final Optional<SplitDoors> splitDoors;

        /**
         * Starts all of them.
         *
         * @param resolverAddresses whom to ask for names; null for the resolvers of the system
         */
        RunningProxy(
                EgressSettings settings,
                KubernetesClient client,
                EgressSecret secret,
                PrometheusMeterRegistry metrics,
                @Nullable DnsServerAddressStreamProvider resolverAddresses)
                throws IOException, InterruptedException {
            EventLoop loop = loops.next();
            names = new DnsNames(loop, resolverAddresses, settings.limits().lookup());
            resolvers = new ResolverCheck(names, resolvConf(), loop, metrics);
            EgressSettings.Rules rules = settings.rules();
            clients = new SandboxClients(client, settings.tenants(client), rules.openPermitted(), rules.defaults());
            ClaimWaits claims = new ClaimWaits(clients);
            metrics.gauge("sandglass.egress.claims.waiting", claims, ClaimWaits::count);
            ClientAdmission admission = new ClientAdmission(
                    clients,
                    (known, user, password) ->
                            user.equals(known.subject()) && secret.isPasswordOf(known.subject(), password),
                    claims,
                    settings.credentialRequired(),
                    ClientAdmission.PATIENCE);
            denials = new DenialsPort(new InetSocketAddress(settings.ports().denials()), secret, loops, HEARTBEAT);
            events = new DenialEvents(client, InstantSource.system());
            var _ = loops.next().scheduleAtFixedRate(events::tellTheRest, 10, 10, TimeUnit.SECONDS);
            proxy = new EgressProxy(
                    new InetSocketAddress(settings.ports().proxy()),
                    new EgressProxy.Guard(
                            clients, admission, names, rules.denied(), settings.limits(), rules.tlsPorts()),
                    loops,
                    metrics,
                    this::tell);
            splitDoors = settings.splitDns().isPresent()
                    ? Optional.of(
                            new SplitDoors(proxy, clients, settings.splitDns().get(), metrics))
                    : Optional.empty();
            probes = new Probes(settings.ports().probes(), this::obstacle, metrics);
            clients.start();
            resolvers.start();
        }

        /** Why no sandbox should come here; empty if there is no reason. */
        private Optional<String> obstacle() {
            return clients.isSynced() ? resolvers.obstacle() : Optional.of("caches are not filled");
        }

        private static List<String> resolvConf() throws IOException {
            return Files.exists(RESOLV_CONF) ? Files.readAllLines(RESOLV_CONF) : List.of();
        }

        private void tell(Unreached target) {
            denials.accept(target);
            // The resource's owner can allow what is refused, but cannot help a host that is down.
            if (target instanceof Denial denial) {
                events.accept(denial);
            }
        }

        int port() {
            return proxy.port();
        }

        int probesPort() {
            return probes.port();
        }

        int denialsPort() {
            return denials.port();
        }

        @Override
        public void close() {
            splitDoors.ifPresent(SplitDoors::close);
            proxy.close();
            denials.close();
            events.close();
            probes.close();
            clients.close();
            names.close();
            loops.shutdownGracefully().syncUninterruptibly();
        }
    }
}
