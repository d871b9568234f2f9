package dev.sandglass.operator;

import dev.sandglass.api.LinkSecret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetrics;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Executors;

/** The operator put together: reconciler, caches, retries, and the framework's settings. */
final class RunningOperator implements AutoCloseable {

    private static final int PARALLEL_SANDBOXES = 32;
    private static final Duration FIRST_RETRY = Duration.ofMillis(200);
    private static final Duration LONGEST_RETRY = Duration.ofSeconds(30);
    private static final Duration STOP_WITHIN = Duration.ofSeconds(3);

    private final Operator operator;

    /** Prepares everything; nothing is contacted before {@link #start()}. */
    RunningOperator(OperatorSettings settings, LinkSecret linkSecret, KubernetesClient client, MeterRegistry metrics) {
        InstantSource clock = InstantSource.system();
        this.operator = new Operator(overrider -> configure(overrider, settings, client, metrics));
        SandboxReconciler reconciler = new SandboxReconciler(
                new SandboxView(settings.pods(), clock),
                new Cluster(client, settings.pods(), settings.gatewayNamespace(), linkSecret),
                settings.deadlines());
        operator.register(reconciler, controller -> controller
                .settingNamespaces(settings.namespaces())
                // Never give up: a sandbox must not rest broken until somebody touches it.
                .withRetry(new GenericRetry()
                        .setInitialInterval(FIRST_RETRY)
                        .setIntervalMultiplier(2)
                        .setMaxInterval(LONGEST_RETRY.toMillis())
                        .withoutMaxAttempts()));
    }

    private static void configure(
            ConfigurationServiceOverrider overrider,
            OperatorSettings settings,
            KubernetesClient client,
            MeterRegistry metrics) {
        overrider
                .withKubernetesClient(client)
                .withCloseClientOnStop(false)
                // Would need a right on definitions, which are cluster-wide.
                .checkingCRDAndValidateLocalModel(false)
                .withParseResourceVersions(true)
                .withMetrics(MicrometerMetrics.withoutPerResourceMetrics(metrics))
                .withExecutorService(Executors.newFixedThreadPool(
                        PARALLEL_SANDBOXES,
                        Thread.ofVirtual().name("sandbox-", 0).factory()))
                .withReconciliationTerminationTimeout(STOP_WITHIN);
        settings.leaderElection()
                .ifPresent(namespace -> overrider.withLeaderElectionConfiguration(
                        new LeaderElectionConfiguration("sandglass-operator", namespace)));
    }

    /** Fills the caches and begins; returns when they are filled. */
    void start() {
        operator.start();
    }

    @Override
    public void close() {
        operator.stop();
    }
}
