package dev.sandglass.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxSpec;
import dev.sandglass.operator.child.SandboxPod;
import dev.sandglass.operator.pod.NetworkProbe;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The chart's defaults fit on a node of 2 CPUs and 8 GiB, by the requests that the scheduler counts. */
class ChartSizeTest {

    private static final Path DEFAULT = Path.of("../helm/tests/golden/default.yaml");
    private static final BigDecimal SANDBOXES = new BigDecimal(16);

    /** Each Deployment counts with the one pod more that an upgrade starts; what is left serves the cluster's own pods. */
    @ParameterizedTest
    @CsvSource({"cpu, 2", "memory, 8Gi"})
    void sixteenDefaultSandboxesFitBesideTheChartsPods(String resource, Quantity node) throws IOException {
        BigDecimal chart = deployments().stream()
                .map(deployment -> request(deployment.getSpec().getTemplate().getSpec(), resource)
                        .multiply(new BigDecimal(deployment.getSpec().getReplicas() + 1)))
                .reduce(BigDecimal.ZERO, BigDecimal::add);
        BigDecimal sandboxes = request(sandbox(), resource).multiply(SANDBOXES);

        assertThat(chart.add(sandboxes)).isPositive().isLessThan(node.getNumericalAmount());
    }

    @Test
    void aDefaultSandboxRequestsATwentiethOfItsCpuAndAQuarterOfItsMemoryAndDisk() throws IOException {
        assertThat(sandbox().getContainers().getFirst().getResources().getRequests())
                .isEqualTo(Map.of(
                        "cpu", new Quantity("50m"),
                        "memory", new Quantity("134217728"),
                        "ephemeral-storage", new Quantity("536870912")));
    }

    /** A pod as the operator makes it with the environment that the chart gives it. */
    private static PodSpec sandbox() throws IOException {
        Map<String, String> environment = new HashMap<>();
        deployments().stream()
                .filter(deployment -> deployment.getMetadata().getName().equals("sandglass-operator"))
                .flatMap(deployment ->
                        deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getEnv().stream())
                .filter(variable -> variable.getValue() != null)
                .forEach((EnvVar variable) -> environment.put(variable.getName(), variable.getValue()));
        environment.put("OPERATOR_NAMESPACE", "sandglass-system");
        Sandbox sandbox = new Sandbox();
        sandbox.getMetadata().setName("demo");
        sandbox.getMetadata().setNamespace("sandglass-default");
        sandbox.getMetadata().setUid("7f3b1c52-9a0e-4d6f-8b11-2c4e5a6d7f80");
        sandbox.setSpec(SandboxSpec.DEFAULT);
        return SandboxPod.desired(
                        sandbox,
                        1,
                        OperatorSettings.of(environment).pods(),
                        Optional.empty(),
                        Optional.empty(),
                        NetworkProbe.NONE)
                .getSpec();
    }

    private static BigDecimal request(PodSpec pod, String resource) {
        return pod.getContainers().stream()
                .map(container -> Objects.requireNonNull(
                                container.getResources().getRequests().get(resource))
                        .getNumericalAmount())
                .reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    private static List<Deployment> deployments() throws IOException {
        List<Deployment> deployments = Arrays.stream(Files.readString(DEFAULT).split("\n---\n"))
                .filter(document -> document.contains("\nkind: Deployment\n"))
                .map(document -> Serialization.unmarshal(document, Deployment.class))
                .toList();
        assertThat(deployments).hasSize(3);
        return deployments;
    }
}
