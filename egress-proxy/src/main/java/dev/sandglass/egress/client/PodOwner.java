package dev.sandglass.egress.client;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.egress.IpAddress;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Optional;

/** Where a pod is, and whose it is, as the pod itself says. */
final class PodOwner {

    private PodOwner() {}

    /** Where a pod is, as long as it may use the proxy. */
    static List<String> addresses(Pod pod) {
        var status = pod.getStatus();
        boolean over = status == null || "Failed".equals(status.getPhase()) || "Succeeded".equals(status.getPhase());
        boolean ofTheNode =
                pod.getSpec() != null && Boolean.TRUE.equals(pod.getSpec().getHostNetwork());
        if (over || ofTheNode || pod.isMarkedForDeletion() || status.getPodIPs() == null) {
            return List.of();
        }
        return status.getPodIPs().stream()
                .flatMap(address -> canonical(address.getIp()).stream())
                .toList();
    }

    private static Optional<String> canonical(String address) {
        try {
            return Optional.of(IpAddress.parse(address).toString());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** UID of the sandbox that controls a pod; labels can be written by many, this only by the operator. */
    static Optional<String> owner(HasMetadata pod) {
        return pod.getMetadata().getOwnerReferences().stream()
                .filter(reference -> Boolean.TRUE.equals(reference.getController()))
                .filter(reference -> "Sandbox".equals(reference.getKind())
                        && reference.getApiVersion().startsWith(Sandbox.GROUP + "/"))
                .map(OwnerReference::getUid)
                .findFirst();
    }
}
