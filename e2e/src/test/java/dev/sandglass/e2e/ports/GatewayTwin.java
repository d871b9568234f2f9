package dev.sandglass.e2e.ports;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.e2e.support.Installation;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A pod that every sandbox's policy takes for the gateway, with Python in it, so that a test sees what the gateway's pods
 * may reach. It is no part of the gateway's Service.
 */
final class GatewayTwin implements AutoCloseable {

    private static final String NAME = "e2e-gateway-twin";
    private static final int PATIENCE_SECONDS = 120;

    private final PodResource pod;

    private GatewayTwin(PodResource pod) {
        this.pod = pod;
    }

    static GatewayTwin start(KubernetesClient kubernetes, String image) {
        var twin = new GatewayTwin(
                kubernetes.pods().inNamespace(Installation.NAMESPACE).withName(NAME));
        try {
            kubernetes.resource(twin.desired(image)).create();
            twin.pod.waitUntilReady(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (RuntimeException e) {
            twin.close();
            throw e;
        }
        return twin;
    }

    /** Whether a TCP connection comes about. */
    boolean reaches(String address, int port) throws Exception {
        String code = """
                import socket
                try:
                    socket.create_connection(("%s", %d), 3).close()
                    print("reached")
                except OSError as problem:
                    print("not", problem)
                """.formatted(address, port);
        var output = new ByteArrayOutputStream();
        try (ExecWatch run = pod.writingOutput(output).exec("python3", "-I", "-c", code)) {
            var _ = run.exitCode().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        return output.toString(StandardCharsets.UTF_8).startsWith("reached");
    }

    @Override
    public void close() {
        pod.withGracePeriod(0).delete();
    }

    private Pod desired(String image) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withNamespace(Installation.NAMESPACE)
                .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_GATEWAY)
                .endMetadata()
                .withNewSpec()
                .withTerminationGracePeriodSeconds(0L)
                .withAutomountServiceAccountToken(false)
                .withNewSecurityContext()
                .withRunAsNonRoot(true)
                .withRunAsUser(65532L)
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .endSecurityContext()
                .withContainers(new ContainerBuilder()
                        .withName("twin")
                        .withImage(image)
                        .withImagePullPolicy("IfNotPresent")
                        .withCommand("python3", "-I", "-c", "import time; time.sleep(3600)")
                        .withNewSecurityContext()
                        .withAllowPrivilegeEscalation(false)
                        .withNewCapabilities()
                        .withDrop("ALL")
                        .endCapabilities()
                        .endSecurityContext()
                        .build())
                .endSpec()
                .build();
    }
}
