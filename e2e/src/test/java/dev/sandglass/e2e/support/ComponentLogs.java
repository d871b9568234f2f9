package dev.sandglass.e2e.support;

import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.util.stream.Collectors;

/** What components of the installation logged, as an administrator reads it. */
public final class ComponentLogs {

    private ComponentLogs() {}

    /** Of the chart's pods: a class that runs beside this one makes and deletes pods with the gateway's label. */
    public static String of(KubernetesClient kubernetes, String component) {
        return kubernetes
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabel(Installation.OF_CHART)
                .withLabel(SandboxLabels.COMPONENT, component)
                .list()
                .getItems()
                .stream()
                .filter(Readiness::isPodReady)
                .map(pod -> kubernetes.pods().resource(pod).getLog())
                .collect(Collectors.joining());
    }
}
