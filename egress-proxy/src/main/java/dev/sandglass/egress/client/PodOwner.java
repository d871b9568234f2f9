package dev.sandglass.egress.client;

import dev.sandglass.api.PodName;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.egress.IpAddress;
import dev.sandglass.api.pool.SandboxPool;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Where a pod is, and whose it is, as the pod itself says. */
final class PodOwner {

    private static final String SANDBOX = HasMetadata.getKind(Sandbox.class);
    private static final String POOL = HasMetadata.getKind(SandboxPool.class);

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
        return controller(pod)
                .filter(reference -> SANDBOX.equals(reference.getKind()))
                .map(OwnerReference::getUid);
    }

    /**
     * The id from which the credential of a sandbox's pod derives. It stands in the pod's name: for a pod that was a seat it is
     * the seat id, else the sandbox's UID. Empty if the name and the rest of the pod disagree.
     *
     * @param sandboxUid UID of the sandbox that controls it
     */
    static Optional<String> subject(Pod pod, String sandboxUid) {
        return isSeat(pod)
                ? seatId(pod)
                : name(pod)
                        .filter(name -> name.incarnation() > 0 && name.id().equals(sandboxUid))
                        .map(PodName::id);
    }

    /** Whether a pod is a pool's that no sandbox has claimed. */
    static boolean isUnclaimed(Pod pod) {
        return seatId(pod).isPresent()
                && controller(pod)
                        .filter(reference -> POOL.equals(reference.getKind()))
                        .isPresent();
    }

    /** Whether a pod was made for a pool, and is claimed or not. */
    static boolean isSeat(Pod pod) {
        return labels(pod).containsKey(SandboxLabels.SEAT);
    }

    private static Optional<String> seatId(Pod pod) {
        return name(pod)
                .filter(name ->
                        name.incarnation() == 0 && name.id().equals(labels(pod).get(SandboxLabels.SEAT)))
                .map(PodName::id);
    }

    private static Optional<PodName> name(Pod pod) {
        return PodName.parse(pod.getMetadata().getName());
    }

    private static Map<String, String> labels(Pod pod) {
        Map<String, String> labels = pod.getMetadata().getLabels();
        return labels == null ? Map.of() : labels;
    }

    /** The one owner of our API group that controls a pod; of two, as no API server accepts them, it is neither. */
    private static Optional<OwnerReference> controller(HasMetadata pod) {
        List<OwnerReference> controllers = pod.getMetadata().getOwnerReferences().stream()
                .filter(reference -> Boolean.TRUE.equals(reference.getController()))
                .toList();
        return controllers.size() == 1
                ? Optional.of(controllers.getFirst())
                        .filter(reference -> reference.getApiVersion().startsWith(Sandbox.GROUP + "/"))
                : Optional.empty();
    }
}
