package dev.sandglass.operator;

import dev.sandglass.api.LinkSecret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator's process. With {@code --train} it goes through its own code without a cluster and ends; the image is
 * built with that, so that the virtual machine can record what a start needs.
 */
public final class OperatorMain {

    private static final Logger LOG = LoggerFactory.getLogger(OperatorMain.class);

    private OperatorMain() {}

    /**
     * Starts the operator and returns; its threads go on until SIGTERM.
     *
     * @param arguments {@code --train} or nothing
     */
    public static void main(String[] arguments) throws IOException {
        if (Arrays.asList(arguments).contains("--train")) {
            Training.run();
            return;
        }
        OperatorSettings settings = OperatorSettings.fromEnvironment();
        PrometheusMeterRegistry metrics = registry();
        KubernetesClient client = client(metrics);
        AtomicBoolean ready = new AtomicBoolean();
        Probes probes = new Probes(settings.httpPort(), ready::get, metrics);
        RunningOperator operator = new RunningOperator(
                settings, LinkSecret.read(settings.linkSecretFile()), client, metrics, OperatorMain::halt);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ready.set(false);
            operator.close();
            probes.close();
            client.close();
        }));
        try {
            operator.start();
        } catch (RuntimeException e) {
            LOG.atError().setCause(e).log("The operator cannot start");
            System.exit(1);
        }
        ready.set(true);
        LOG.atInfo()
                .addKeyValue("namespaces", settings.namespaceList())
                .addKeyValue("image", settings.pods().images().defaultImage())
                .addKeyValue("port", settings.httpPort())
                .log("The operator runs");
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
        return new KubernetesClientBuilder()
                .withHttpClientBuilderConsumer(
                        builder -> builder.addOrReplaceInterceptor("sandglass-meter", new ApiMeter(metrics)))
                .build();
    }
}
