package dev.sandglass.egress.testing;

import dev.sandglass.api.PodName;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.List;
import java.util.Map;

/** Sandboxes and pods of one namespace, as the operator would write them into the mock of an API server. */
public record TenantObjects(KubernetesClient client, String namespace) {

    /** Only with the definition does the mock know that watches of this resource concern it. */
    public static void define(KubernetesClient client) {
        client.load(Sandbox.class.getResourceAsStream("/META-INF/fabric8/sandboxes.sandglass.dev-v1.yml"))
                .create();
    }

    /** All sandboxes there are. */
    public MixedOperation<GenericKubernetesResource, ?, Resource<GenericKubernetesResource>> sandboxes() {
        return client.genericKubernetesResources(ResourceDefinitionContext.fromResourceType(Sandbox.class));
    }

    /** Writes a sandbox with that list; its UID, which is the server's choice. */
    public String sandbox(String name, Object... allowedDomains) {
        return sandbox(name, Map.of("allowedDomains", List.of(allowedDomains)));
    }

    /** Writes a sandbox; its UID. */
    public String sandbox(String name, Map<String, Object> spec) {
        GenericKubernetesResource resource = new GenericKubernetesResource();
        resource.setApiVersion(Sandbox.GROUP + "/" + Sandbox.VERSION);
        resource.setKind("Sandbox");
        resource.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
        resource.setAdditionalProperty("spec", spec);
        return sandboxes()
                .inNamespace(namespace)
                .resource(resource)
                .createOr(NonDeletingOperation::update)
                .getMetadata()
                .getUid();
    }

    /** The sandbox goes. */
    public void delete(String sandbox) {
        sandboxes().inNamespace(namespace).withName(sandbox).delete();
    }

    /** An object of ours, as owner of a pod. */
    public static OwnerReference owner(String kind, String name, String uid) {
        return new OwnerReferenceBuilder()
                .withApiVersion(Sandbox.GROUP + "/" + Sandbox.VERSION)
                .withKind(kind)
                .withName(name)
                .withUid(uid)
                .withController(true)
                .build();
    }

    /** A running pod of a sandbox, made for it. */
    public PodBuilder pod(String sandbox, String uid, int incarnation, String address) {
        return running(new PodName(uid, incarnation).text(), address)
                .editMetadata()
                .addToOwnerReferences(owner("Sandbox", sandbox, uid))
                .endMetadata();
    }

    /** A running pod of a pool, which nobody has claimed. */
    public PodBuilder seat(String id, String address) {
        return running(new PodName(id, 0).text(), address)
                .editMetadata()
                .addToLabels(SandboxLabels.POOL, "warm")
                .addToLabels(SandboxLabels.SEAT, id)
                .addToOwnerReferences(owner("SandboxPool", "warm", "0c3ad0f3-1f0c-4d13-8d0f-54ad0ac1d9a1"))
                .endMetadata();
    }

    /** The same pod, whose owner is a sandbox now. */
    public static Pod claimed(Pod seat, String sandbox, String uid) {
        return new PodBuilder(seat)
                .editMetadata()
                .withResourceVersion(null)
                .addToLabels(SandboxLabels.SANDBOX, sandbox)
                .addToLabels(SandboxLabels.SANDBOX_UID, uid)
                .withOwnerReferences(owner("Sandbox", sandbox, uid))
                .endMetadata()
                .build();
    }

    private PodBuilder running(String name, String address) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .withPhase("Running")
                .withPodIP(address)
                .addNewPodIP(address)
                .endStatus();
    }

    /** Writes a pod, or writes it anew. */
    public Pod write(Pod pod) {
        return client.pods().inNamespace(namespace).resource(pod).createOr(NonDeletingOperation::update);
    }

    /** The pod goes. */
    public void delete(Pod pod) {
        client.pods()
                .inNamespace(namespace)
                .withName(pod.getMetadata().getName())
                .delete();
    }
}
