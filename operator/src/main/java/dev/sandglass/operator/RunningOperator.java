package dev.sandglass.operator;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.pool.SandboxPool;
import dev.sandglass.api.toolserver.SandboxToolServer;
import dev.sandglass.operator.leader.Leadership;
import dev.sandglass.operator.metrics.PoolCensus;
import dev.sandglass.operator.metrics.SandboxMeters;
import dev.sandglass.operator.metrics.SeatMeter;
import dev.sandglass.operator.pool.PoolMeters;
import dev.sandglass.operator.pool.PoolReconciler;
import dev.sandglass.operator.sandbox.PodEvents;
import dev.sandglass.operator.sandbox.SandboxReconciler;
import dev.sandglass.operator.sandbox.SandboxView;
import dev.sandglass.operator.sandbox.WarmStarts;
import dev.sandglass.operator.toolserver.ToolServerReconciler;
import dev.sandglass.operator.watch.SandboxWatches;
import dev.sandglass.operator.watch.SandboxWatches.Kinds;
import dev.sandglass.operator.write.ApiErrors;
import dev.sandglass.operator.write.ChildWriter;
import dev.sandglass.operator.write.ClaimActivity;
import dev.sandglass.operator.write.ClosedServices;
import dev.sandglass.operator.write.ProxyLocator;
import dev.sandglass.operator.write.SandboxEvents;
import dev.sandglass.operator.write.SeatClaims;
import dev.sandglass.operator.write.SeatWriter;
import dev.sandglass.operator.write.Storage;
import dev.sandglass.operator.write.ToolServerWriter;
import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.javaoperatorsdk.operator.api.config.ControllerConfigurationOverrider;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetrics;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator put together: reconciler, caches, retries, and the framework's settings. Of several replicas only the one
 * that leads watches anything.
 */
final class RunningOperator implements AutoCloseable {

    private static final int PARALLEL_SANDBOXES = 32;
    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);
    private static final Duration STOP_WITHIN = Duration.ofSeconds(3);

    private static final Logger LOG = LoggerFactory.getLogger(RunningOperator.class);

    private final OperatorSettings settings;
    private final SandboxReconciler sandboxes;
    private final ToolServerReconciler toolServers;
    private final PoolReconciler pools;
    private final KubernetesClient client;
    private final Operator operator;
    private final Optional<Leadership> leadership;
    private final Consumer<String> onBlind;
    private volatile Kinds kinds = Kinds.NONE;
    private volatile boolean working;
    private volatile boolean closing;

    /**
     * Prepares everything; nothing is contacted before {@link #start()}.
     *
     * @param onBlind called when the operator can no longer work: a watch ended for good, it led and could not begin, or
     *     another replica leads
     */
    RunningOperator(
            OperatorSettings settings,
            Secrets secrets,
            KubernetesClient client,
            MeterRegistry metrics,
            Consumer<String> onBlind) {
        this.settings = settings;
        this.onBlind = onBlind;
        this.client = client;
        leadership = settings.leaderElection().map(election -> new Leadership(client, election, this::lead, onBlind));
        operator = new Operator(overrider -> configure(overrider, client, metrics, onBlind));
        SandboxEvents events = new SandboxEvents(client);
        SandboxMeters meters = new SandboxMeters(metrics, settings.tenants().watched());
        toolServers = new ToolServerReconciler(
                new ToolServerWriter(client), settings.tenants(), events, meters, InstantSource.system());
        ChildWriter children = new ChildWriter(
                client,
                settings.pods(),
                settings.tenants(),
                secrets.link(),
                locator(settings, secrets, client),
                new ClosedServices(client, settings.gatewayNamespace(), settings.probe(), InstantSource.system())
                        ::probe);
        SeatClaims claims = new SeatClaims(client);
        SeatWriter seats = new SeatWriter(client, children);
        pools = pools(settings, seats, children, claims, events, poolMeters(metrics, meters));
        SandboxView view = new SandboxView(
                settings.pods(), settings.tenants(), () -> kinds, new PodEvents(client), InstantSource.system());
        sandboxes = new SandboxReconciler(
                view,
                new WarmStarts(view, claims, seats, meters.claims()),
                children,
                new Storage(client, settings.pods().users()),
                settings.deadlines(),
                events,
                meters);
    }

    private static PoolReconciler pools(
            OperatorSettings settings,
            SeatWriter seats,
            ChildWriter children,
            ClaimActivity claims,
            SandboxEvents events,
            PoolMeters meters) {
        return new PoolReconciler(
                seats, children, settings.pods(), settings.tenants(), claims, events, meters, InstantSource.system());
    }

    private static PoolMeters poolMeters(MeterRegistry metrics, SandboxMeters meters) {
        return new PoolMeters(
                new PoolCensus(metrics, InstantSource.system()), new SeatMeter(metrics, System::nanoTime), meters);
    }

    private static Optional<ProxyLocator> locator(OperatorSettings settings, Secrets secrets, KubernetesClient client) {
        return settings.egress().flatMap(egress -> secrets.egress()
                .map(secret -> new ProxyLocator(
                        client, settings.gatewayNamespace(), egress.service(), secret, InstantSource.system())));
    }

    private static void configure(
            ConfigurationServiceOverrider overrider,
            KubernetesClient client,
            MeterRegistry metrics,
            Consumer<String> onBlind) {
        overrider
                .withKubernetesClient(client)
                .withCloseClientOnStop(false)
                // Would need a right on definitions, which are cluster-wide.
                .checkingCRDAndValidateLocalModel(false)
                .withParseResourceVersions(true)
                .withInformerStoppedHandler((informer, failure) -> {
                    if (failure != null) {
                        onBlind.accept("A watch ended for good: " + failure);
                    }
                })
                .withMetrics(MicrometerMetrics.withoutPerResourceMetrics(metrics))
                .withExecutorService(Executors.newFixedThreadPool(
                        PARALLEL_SANDBOXES,
                        Thread.ofVirtual().name("sandbox-", 0).factory()))
                .withReconciliationTerminationTimeout(STOP_WITHIN);
    }

    /**
     * Begins. Without other replicas it fills the caches and returns when they are filled; else it returns at once, and
     * does so when it leads.
     */
    void start() {
        leadership.ifPresentOrElse(Leadership::compete, this::work);
    }

    /** Whether it does its part: it works, or knows of another replica that leads. */
    boolean isReady() {
        return working || leadership.filter(Leadership::isElsewhere).isPresent();
    }

    private void lead() {
        try {
            work();
        } catch (RuntimeException e) {
            // Whatever it is: who leads and does nothing keeps the others from it. Who closes it takes from it what it
            // begins with.
            if (!closing) {
                LOG.atError().setCause(e).log("The operator cannot begin");
                onBlind.accept("It leads and cannot begin: " + e.getMessage());
            }
        }
    }

    private void work() {
        kinds = knownKinds();
        operator.register(sandboxes, controller -> common(controller)
                // Which would not look at annotations.
                .withGenerationAware(false)
                .withOnUpdateFilter(SandboxWatches::isNews)
                // Else no round begins for a sandbox that is being deleted, and a finalizer may keep it for ever.
                .withTriggerReconcilerOnAllEvents(true));
        if (kinds.toolServers()) {
            operator.register(toolServers, this::common);
        }
        if (kinds.pools()) {
            operator.register(pools, controller -> common(controller)
                    // Else what is remembered of a pool would stay when it is deleted.
                    .withTriggerReconcilerOnAllEvents(true));
        } else {
            LOG.atWarn().log("The cluster has no kind SandboxPool; install its definition and restart the operator");
        }
        operator.start();
        working = true;
        LOG.atInfo()
                .addKeyValue("namespaces", settings.namespaceList())
                .addKeyValue("image", settings.pods().images().defaultImage())
                .log("The operator works");
    }

    private <R extends HasMetadata> ControllerConfigurationOverrider<R> common(
            ControllerConfigurationOverrider<R> controller) {
        return controller
                .settingNamespaces(settings.tenants().watched())
                .withInformerListLimit(SandboxWatches.PAGE)
                // Never give up: a sandbox must not stay broken until a user edits it.
                .withRetry(new GenericRetry()
                        .setInitialInterval(FIRST_RETRY)
                        .setIntervalMultiplier(2)
                        .setMaxInterval(LONGEST_RETRY.toMillis())
                        .withoutMaxAttempts());
    }

    /**
     * Which of the kinds the API server serves. An administrator who installs definitions by hand may have left one out, and
     * sandboxes must not be without an operator for that.
     */
    private Kinds knownKinds() {
        try {
            APIResourceList served = client.getApiResources(Sandbox.GROUP + "/" + Sandbox.VERSION);
            return new Kinds(serves(served, SandboxToolServer.class), serves(served, SandboxPool.class));
        } catch (KubernetesClientException e) {
            LOG.atInfo()
                    .addKeyValue("cause", ApiErrors.briefly(e))
                    .log("The API server does not say which kinds it has");
            return new Kinds(true, true);
        }
    }

    private static boolean serves(@Nullable APIResourceList served, Class<? extends HasMetadata> kind) {
        boolean known = served != null
                && served.getResources().stream()
                        .anyMatch(found -> found.getKind().equals(HasMetadata.getKind(kind)));
        if (!known) {
            LOG.atWarn()
                    .addKeyValue("kind", HasMetadata.getKind(kind))
                    .log("The cluster does not have the kind; install its definition and restart the operator");
        }
        return known;
    }

    @Override
    public void close() {
        closing = true;
        working = false;
        leadership.ifPresent(Leadership::stopping);
        try {
            operator.stop();
        } finally {
            leadership.ifPresent(Leadership::release);
        }
    }
}
