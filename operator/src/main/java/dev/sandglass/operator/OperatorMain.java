package dev.sandglass.operator;

import dev.sandglass.api.watch.AsciiWatches;
import dev.sandglass.api.watch.ReadableSerialization;
import dev.sandglass.operator.metrics.ApiMeter;
import dev.sandglass.operator.metrics.UnreadableMeter;
import dev.sandglass.operator.watch.LeanSerialization;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The operator's process. */
public final class OperatorMain {

    private static final Logger LOG = LoggerFactory.getLogger(OperatorMain.class);

    private static final Duration API_SERVER_PAUSE = Duration.ofSeconds(1);

    /** The framework tries again by itself; a call that is stuck in retries would only keep a thread. */
    private static final int RETRIES_OF_A_CALL = 3;

    private OperatorMain() {}

    /** Starts the operator and returns; its threads go on until SIGTERM. */
    public static void main(String[] arguments) throws IOException {
        OperatorSettings settings = OperatorSettings.fromEnvironment();
        PrometheusMeterRegistry metrics = registry();
        KubernetesClient client = client(metrics);
        RunningOperator operator =
                new RunningOperator(settings, Secrets.read(settings), client, metrics, OperatorMain::halt);
        Probes probes = new Probes(settings.httpPort(), operator::isReady, metrics);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            operator.close();
            probes.close();
            client.close();
        }));
        try {
            awaitApiServer(client);
            operator.start();
        } catch (RuntimeException e) {
            LOG.atError().setCause(e).log("The operator cannot start");
            System.exit(1);
        }
    }

    /**
     * Waits until the API server answers: to end instead would have the kubelet start this process again after ever longer
     * pauses, and an operator that comes back minutes after its API server.
     */
    private static void awaitApiServer(KubernetesClient client) {
        while (!answers(client)) {
            try {
                Thread.sleep(API_SERVER_PAUSE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while waiting for the API server", e);
            }
        }
    }

    private static boolean answers(KubernetesClient client) {
        try {
            client.getKubernetesVersion();
            return true;
        } catch (KubernetesClientException e) {
            LOG.atWarn().addKeyValue("cause", e.getMessage()).log("The API server does not answer");
            // A refusal is an answer; what is wrong then shows at the next step.
            return e.getCode() >= 400 && e.getCode() < 500;
        }
    }

    /** A fresh process sees again; there is nothing here that a shutdown in good order would save. */
    private static void halt(String reason) {
        LOG.atError().addKeyValue("reason", reason).log("The operator ends, to be started again");
        Runtime.getRuntime().halt(1);
    }

    static PrometheusMeterRegistry registry() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new JvmMemoryMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        return registry;
    }

    static KubernetesClient client(MeterRegistry metrics) {
        ReadableSerialization serialization = LeanSerialization.create();
        UnreadableMeter.count(serialization, metrics);
        return new KubernetesClientBuilder()
                .withKubernetesSerialization(serialization)
                .withConfig(new ConfigBuilder(Config.autoConfigure(null))
                        .withRequestRetryBackoffLimit(RETRIES_OF_A_CALL)
                        // A WebSocket that breaks is not always noticed (FaultsIT); ADR 0020.
                        .withOnlyHttpWatches(true)
                        .build())
                .withHttpClientBuilderConsumer(
                        builder -> builder.addOrReplaceInterceptor("sandglass-meter", new ApiMeter(metrics))
                                .addOrReplaceInterceptor(AsciiWatches.NAME, new AsciiWatches()))
                .build();
    }
}
