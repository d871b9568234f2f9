package dev.sandglass.e2e.support;

import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The same image without any of our walls: a privileged pod, its user root, in a namespace without policies. An attack
 * that fails in a sandbox must succeed from here, else it proves nothing. The pod also listens on the given ports, as a
 * victim without walls.
 */
public final class ControlPod implements AutoCloseable {

    private static final String NAME = "control";
    private static final int PATIENCE_SECONDS = 120;

    private final KubernetesClient kubernetes;
    private final String namespace;

    private ControlPod(KubernetesClient kubernetes, String namespace) {
        this.kubernetes = kubernetes;
        this.namespace = namespace;
    }

    public static ControlPod start(KubernetesClient kubernetes, String image, int... listening) {
        String namespace = kubernetes
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withGenerateName("sandglass-e2e-control-")
                        .endMetadata()
                        .build())
                .create()
                .getMetadata()
                .getName();
        var control = new ControlPod(kubernetes, namespace);
        try {
            kubernetes.resource(control.pod(image, listening)).create();
            control.resource().waitUntilReady(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (RuntimeException e) {
            control.close();
            throw e;
        }
        return control;
    }

    public String address() {
        return resource().get().getStatus().getPodIP();
    }

    /** Runs Python in the pod; what it printed. */
    public String python(String code) {
        var output = new ByteArrayOutputStream();
        var errors = new ByteArrayOutputStream();
        try (ExecWatch run =
                resource().writingOutput(output).writingError(errors).exec("python3", "-I", "-c", code)) {
            Integer exit = run.exitCode().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (exit == null || exit != 0) {
                throw new IllegalStateException(
                        "exit code " + exit + " in the control pod: " + errors.toString(StandardCharsets.UTF_8));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException(errors.toString(StandardCharsets.UTF_8), e);
        }
        return output.toString(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        kubernetes
                .pods()
                .inNamespace(namespace)
                .withName(NAME)
                .withGracePeriod(0)
                .delete();
        kubernetes.namespaces().withName(namespace).delete();
    }

    /** Kills the container; what the kubelet then gives as its last words. */
    public String lastWords(Node node) {
        node.crash(
                resource().get().getStatus().getContainerStatuses().getFirst().getContainerID());
        return resource()
                .waitUntilCondition(ControlPod::hasEnded, PATIENCE_SECONDS, TimeUnit.SECONDS)
                .getStatus()
                .getContainerStatuses()
                .getFirst()
                .getLastState()
                .getTerminated()
                .getMessage();
    }

    private static boolean hasEnded(Pod pod) {
        return pod.getStatus().getContainerStatuses().getFirst().getLastState().getTerminated() != null;
    }

    private PodResource resource() {
        return kubernetes.pods().inNamespace(namespace).withName(NAME);
    }

    private Pod pod(String image, int... listening) {
        String ports = IntStream.of(listening).mapToObj(Integer::toString).collect(Collectors.joining(","));
        String listen = """
                import signal, socket
                signal.signal(signal.SIGTERM, lambda *_: exit())
                listeners = [socket.create_server(("", port), backlog=64) for port in (%s,)]
                signal.pause()
                """.formatted(ports);
        return new PodBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withNamespace(namespace)
                .endMetadata()
                .withNewSpec()
                .withTerminationGracePeriodSeconds(0L)
                .withContainers(new ContainerBuilder()
                        .withName("control")
                        .withImage(image)
                        .withImagePullPolicy("IfNotPresent")
                        .withCommand("python3", "-I", "-c", listen)
                        .withNewSecurityContext()
                        .withRunAsUser(0L)
                        .withRunAsGroup(0L)
                        .withPrivileged(true)
                        .endSecurityContext()
                        .build())
                .endSpec()
                .build();
    }
}
