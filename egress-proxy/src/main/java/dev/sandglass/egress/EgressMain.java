package dev.sandglass.egress;

import dev.sandglass.api.egress.EgressSecret;
import dev.sandglass.egress.client.Admission;
import dev.sandglass.egress.client.SandboxClients;
import dev.sandglass.egress.denial.Denial;
import dev.sandglass.egress.denial.DenialEvents;
import dev.sandglass.egress.denial.DenialsPort;
import dev.sandglass.egress.denial.Unreached;
import dev.sandglass.egress.name.DnsNames;
import dev.sandglass.egress.tunnel.EgressProxy;
import dev.sandglass.egress.tunnel.SplitDoors;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The egress proxy's process. It listens at once and answers 503 until it knows the sandboxes. With {@code --train} it goes
 * through its own code without a cluster and ends; the image is built with that.
 */
public final class EgressMain {

    private static final Logger LOG = LoggerFactory.getLogger(EgressMain.class);

    private EgressMain() {}

    /**
     * Starts the proxy and returns; its threads go on until SIGTERM.
     *
     * @param arguments {@code --train} or nothing
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (Arrays.asList(arguments).contains("--train")) {
            Training.run();
            return;
        }
        EgressSettings settings = EgressSettings.fromEnvironment();
        PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new JvmMemoryMetrics().bindTo(metrics);
        new ProcessorMetrics().bindTo(metrics);
        KubernetesClient client = client();
        RunningProxy running = new RunningProxy(settings, client, EgressSecret.read(settings.secretFile()), metrics);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            running.close();
            client.close();
        }));
        LOG.atInfo()
                .addKeyValue("namespaces", String.join(",", settings.namespaces()))
                .addKeyValue("port", running.port())
                .log("The egress proxy runs");
    }

    private static KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.autoConfigure(null))
                        // As in the operator: a WebSocket that breaks is not always noticed.
                        .withOnlyHttpWatches(true)
                        // Watches come back by themselves, and nobody waits for a question that is asked again.
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }

    /** All parts of a proxy, put together. */
    static final class RunningProxy implements AutoCloseable {
        private static final Duration HEARTBEAT = Duration.ofSeconds(10);

        /** None of them ever waits, so that more than there are processors would only take turns. */
        private final EventLoopGroup loops =
                new MultiThreadIoEventLoopGroup(Runtime.getRuntime().availableProcessors(), NioIoHandler.newFactory());

        private final DnsNames names;
        private final SandboxClients clients;
        private final Probes probes;
        private final DenialsPort denials;
        private final DenialEvents events;
        private final EgressProxy proxy;
        private final Optional<SplitDoors> splitDoors;

        RunningProxy(
                EgressSettings settings, KubernetesClient client, EgressSecret secret, PrometheusMeterRegistry metrics)
                throws IOException, InterruptedException {
            names = new DnsNames(loops.next(), null, settings.limits().lookup());
            clients =
                    new SandboxClients(client, settings.tenants(client), settings.openPermitted(), settings.defaults());
            Admission admission = new Admission(
                    clients,
                    (known, user, password) -> user.equals(known.uid()) && secret.isPasswordOf(known.uid(), password),
                    settings.credentialRequired());
            denials = new DenialsPort(new InetSocketAddress(settings.denialsPort()), secret, loops, HEARTBEAT);
            events = new DenialEvents(client, InstantSource.system());
            var _ = loops.next().scheduleAtFixedRate(events::tellTheRest, 10, 10, TimeUnit.SECONDS);
            proxy = new EgressProxy(
                    new InetSocketAddress(settings.port()),
                    new EgressProxy.Guard(
                            clients, admission, names, settings.denied(), settings.limits(), settings.tlsPorts()),
                    loops,
                    metrics,
                    this::tell);
            splitDoors = settings.splitDns().isPresent()
                    ? Optional.of(
                            new SplitDoors(proxy, clients, settings.splitDns().get(), metrics))
                    : Optional.empty();
            probes = new Probes(settings.httpPort(), clients::isSynced, metrics);
            clients.start();
        }

        private void tell(Unreached target) {
            denials.accept(target);
            // Whoever looks after the resource can open what is refused, and do nothing for a host that is down.
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
