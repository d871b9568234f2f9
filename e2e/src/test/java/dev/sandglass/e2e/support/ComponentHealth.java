package dev.sandglass.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Whether our own pods went on: how often each was restarted, and what of the API server it could not read.
 *
 * @param kubernetes of an administrator
 * @param before by pod
 */
public record ComponentHealth(KubernetesClient kubernetes, Map<String, String> before) {

    private static final int MANAGEMENT = 8081;

    public static ComponentHealth now(KubernetesClient kubernetes) {
        return new ComponentHealth(kubernetes, state(kubernetes));
    }

    public void isUnchanged() {
        assertThat(state(kubernetes)).isEqualTo(before);
    }

    private static Map<String, String> state(KubernetesClient kubernetes) {
        return kubernetes
                .pods()
                .inNamespace(Installation.NAMESPACE)
                .withLabel(Installation.OF_CHART)
                .list()
                .getItems()
                .stream()
                .filter(pod -> "Running".equals(pod.getStatus().getPhase()))
                .collect(Collectors.toMap(
                        pod -> pod.getMetadata().getName(),
                        pod -> pod.getStatus().getContainerStatuses().getFirst().getRestartCount() + " restarts, "
                                + unreadable(kubernetes, pod),
                        (one, _) -> one,
                        TreeMap::new));
    }

    private static String unreadable(KubernetesClient kubernetes, Pod pod) {
        String path = pod.getMetadata().getName().contains("gateway") ? "actuator/prometheus" : "metrics";
        String metrics = kubernetes.raw("/api/v1/namespaces/%s/pods/%s:%d/proxy/%s"
                .formatted(Installation.NAMESPACE, pod.getMetadata().getName(), MANAGEMENT, path));
        return String.valueOf(metrics)
                .lines()
                .filter(line -> line.startsWith("sandglass_api_unreadable_total"))
                .sorted()
                .collect(Collectors.joining(", "));
    }
}
