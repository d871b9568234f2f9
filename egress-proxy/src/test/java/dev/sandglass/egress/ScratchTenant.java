package dev.sandglass.egress;

import dev.sandglass.api.PodName;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A namespace of its own in a real API server, with sandboxes and pods that no operator makes and no node runs: their
 * status is written here, with addresses of the loopback network. Goes when it is closed.
 */
final class ScratchTenant implements AutoCloseable {

    final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(TestCluster.config())
                    .withOnlyHttpWatches(true)
                    .build())
            .build();
    final String namespace = "sandglass-egress-" + UUID.randomUUID().toString().substring(0, 8);

    ScratchTenant() {
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .build())
                .create();
    }

    private MixedOperation<GenericKubernetesResource, ?, Resource<GenericKubernetesResource>> sandboxes() {
        return client.genericKubernetesResources(ResourceDefinitionContext.fromResourceType(Sandbox.class));
    }

    /** Creates a sandbox; its UID. */
    String sandbox(String name, String... allowedDomains) {
        GenericKubernetesResource resource = new GenericKubernetesResource();
        resource.setApiVersion(Sandbox.GROUP + "/" + Sandbox.VERSION);
        resource.setKind("Sandbox");
        resource.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
        resource.setAdditionalProperty("spec", Map.of("allowedDomains", List.of(allowedDomains)));
        GenericKubernetesResource made =
                sandboxes().inNamespace(namespace).resource(resource).create();
        if (made.get("spec", "allowedDomains") == null) {
            throw new IllegalStateException("The definition of Sandbox in this cluster is older than allowedDomains");
        }
        return made.getMetadata().getUid();
    }

    /** Gives a sandbox another list; it is written when this returns. */
    void allow(String name, String... allowedDomains) {
        String list = allowedDomains.length == 0 ? "" : "\"" + String.join("\",\"", allowedDomains) + "\"";
        sandboxes()
                .inNamespace(namespace)
                .withName(name)
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"allowedDomains\":[" + list + "]}}");
    }

    /** Creates a pod of a sandbox that has that address; its name. */
    String pod(int incarnation, String sandbox, String sandboxUid, String address) {
        String name = new PodName(sandboxUid, incarnation).text();
        Pod pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                .addNewOwnerReference()
                .withApiVersion(Sandbox.GROUP + "/" + Sandbox.VERSION)
                .withKind("Sandbox")
                .withName(sandbox)
                .withUid(sandboxUid)
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .withNewSpec()
                // Nobody's, so that it never runs anywhere.
                .withSchedulerName("nobody")
                .withAutomountServiceAccountToken(false)
                .withNewSecurityContext()
                .withRunAsNonRoot(true)
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .endSecurityContext()
                .addNewContainer()
                .withName("none")
                .withImage("none")
                .endContainer()
                .endSpec()
                .build();
        client.resource(pod).create();
        status(name, "{\"phase\":\"Running\",\"podIP\":\"%1$s\",\"podIPs\":[{\"ip\":\"%1$s\"}]}".formatted(address));
        return name;
    }

    /** The pod has ended, as a kubelet would say it. */
    void end(String name) {
        status(name, "{\"phase\":\"Failed\"}");
    }

    private void status(String name, String status) {
        client.pods()
                .inNamespace(namespace)
                .withName(name)
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":" + status + "}");
    }

    /** The pod is deleted, and gone when this returns. */
    void delete(String name) {
        client.pods().inNamespace(namespace).withName(name).withGracePeriod(0).delete();
    }

    @Override
    public void close() {
        client.namespaces().withName(namespace).delete();
        client.close();
    }
}
