package dev.sandglass.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetrics;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** The operator put together: reconciler, caches, retries, and the framework's settings. */
final class RunningOperator implements AutoCloseable {

    private static final int PARALLEL_SANDBOXES = 32;
    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);
    private static final Duration STOP_WITHIN = Duration.ofSeconds(3);

    private final Operator operator;
    private final Optional<Leadership> leadership;

    /**
     * Prepares everything; nothing is contacted before {@link #start()}.
     *
     * @param onBlind called when the operator can no longer work: a watch ended for good, or another replica leads
     */
    RunningOperator(
            OperatorSettings settings,
            Secrets secrets,
            KubernetesClient client,
            MeterRegistry metrics,
            Consumer<String> onBlind) {
        leadership = settings.leaderElection().map(election -> new Leadership(client, election, onBlind));
        operator = new Operator(overrider -> {
            configure(overrider, client, metrics, onBlind);
            leadership.map(Leadership::configuration).ifPresent(overrider::withLeaderElectionConfiguration);
        });
        SandboxReconciler reconciler = new SandboxReconciler(
                new SandboxView(settings.pods(), settings.tenants(), new PodEvents(client), InstantSource.system()),
                new Cluster(
                        client, settings.pods(), settings.tenants(), secrets.link(), door(settings, secrets, client)),
                new Storage(client, settings.pods().users()),
                settings.deadlines(),
                new SandboxEvents(client),
                new SandboxMeters(metrics, settings.tenants().watched()));
        operator.register(reconciler, controller -> controller
                .settingNamespaces(settings.tenants().watched())
                .withInformerListLimit(SandboxView.PAGE)
                // Which would not look at annotations.
                .withGenerationAware(false)
                .withOnUpdateFilter(SandboxView::isNews)
                // Never give up: a sandbox must not rest broken until somebody touches it.
                .withRetry(new GenericRetry()
                        .setInitialInterval(FIRST_RETRY)
                        .setIntervalMultiplier(2)
                        .setMaxInterval(LONGEST_RETRY.toMillis())
                        .withoutMaxAttempts()));
    }

    private static Optional<EgressDoor> door(OperatorSettings settings, Secrets secrets, KubernetesClient client) {
        return settings.egress().flatMap(egress -> secrets.egress()
                .map(secret -> new EgressDoor(
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

    /** Fills the caches and begins; returns when they are filled. */
    void start() {
        operator.start();
    }

    @Override
    public void close() {
        leadership.ifPresent(Leadership::stopping);
        operator.stop();
        leadership.ifPresent(Leadership::release);
    }
}
