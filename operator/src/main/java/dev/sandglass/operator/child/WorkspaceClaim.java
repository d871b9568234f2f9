package dev.sandglass.operator.child;

import dev.sandglass.api.Reason;
import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.Workspace;
import dev.sandglass.operator.settings.SandboxUsers;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The claim of a workspace that outlives the pod. Its name comes from the sandbox's name and not from its UID, because
 * the next sandbox of this name takes a kept one again.
 */
public final class WorkspaceClaim {

    private static final String STORAGE = "storage";

    private WorkspaceClaim() {}

    /** The claim of a sandbox that has none yet. */
    public static PersistentVolumeClaim desired(Sandbox sandbox, Workspace workspace, SandboxUsers users) {
        return new PersistentVolumeClaimBuilder()
                .withMetadata(ChildMetadata.of(sandbox, ChildNames.workspace(sandbox))
                        .edit()
                        .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_WORKSPACE)
                        .addToAnnotations(
                                SandboxLabels.RUN_AS_USER,
                                Long.toString(users.ofNew(sandbox.getMetadata().getUid())))
                        .withOwnerReferences(owners(sandbox, workspace))
                        .build())
                .withNewSpec()
                .withAccessModes("ReadWriteOnce")
                .withStorageClassName(workspace.storageClassName())
                .withNewResources()
                .addToRequests(STORAGE, workspace.size())
                .endResources()
                .endSpec()
                .build();
    }

    private static List<OwnerReference> owners(Sandbox sandbox, Workspace workspace) {
        return workspace.outlivesSandbox() ? List.of() : List.of(ChildMetadata.owner(sandbox));
    }

    /**
     * Why a claim that is there cannot be the workspace.
     *
     * @return empty if it can
     */
    public static Optional<PodRefusal> problem(Sandbox sandbox, PersistentVolumeClaim claim) {
        String name = claim.getMetadata().getName();
        if (!isOurs(sandbox, claim)) {
            return missing("spec.workspace: a PersistentVolumeClaim " + name + " exists that Sandglass did not create;"
                    + " delete it, or mount it with spec.volumes");
        }
        boolean ofAnother = claim.getMetadata().getOwnerReferences().stream()
                .anyMatch(owner -> !owner.getUid().equals(sandbox.getMetadata().getUid()));
        if (ofAnother || claim.getMetadata().getDeletionTimestamp() != null) {
            // Nothing is wrong: a caller that waits for the start goes on waiting.
            return Optional.of(new PodRefusal(
                    Reason.STARTING,
                    "The previous workspace, claim " + name
                            + ", is still being deleted; the operator creates a new one when it is gone"));
        }
        boolean lost =
                claim.getStatus() != null && "Lost".equals(claim.getStatus().getPhase());
        return lost
                ? missing("spec.workspace: the volume behind claim " + name
                        + " is gone, and the files with it; delete the claim to start with a new one")
                : Optional.empty();
    }

    /**
     * Why no pod is made over a claim whose files lie elsewhere than the spec says. Apart from {@link #problem}, since
     * it is the sandbox's claim all the same: whether it is kept goes on as the spec says.
     *
     * @return empty if its storage class is the one that is wanted, or none is named
     */
    public static Optional<PodRefusal> otherClass(Sandbox sandbox, PersistentVolumeClaim claim) {
        return classes(sandbox, claim)
                .flatMap(classes -> missing("spec.workspace.storageClassName: claim "
                        + claim.getMetadata().getName() + " " + classes
                        + "; delete the claim and its files to start with a new"
                        + " one, or name the class that it has"));
    }

    private static Optional<String> classes(Sandbox sandbox, PersistentVolumeClaim claim) {
        String is = claim.getSpec().getStorageClassName();
        return Optional.ofNullable(sandbox.wanted().workspace())
                .map(Workspace::storageClassName)
                .filter(wanted -> !wanted.equals(is))
                .map(wanted -> "has the storage class " + Objects.requireNonNullElse(is, "(none)") + " and not "
                        + wanted + ", and a claim cannot change it");
    }

    private static Optional<PodRefusal> missing(String message) {
        return Optional.of(new PodRefusal(Reason.VOLUME_MISSING, message));
    }

    private static boolean isOurs(Sandbox sandbox, PersistentVolumeClaim claim) {
        var labels = Objects.requireNonNullElse(claim.getMetadata().getLabels(), Map.<String, String>of());
        return SandboxLabels.OPERATOR.equals(labels.get(SandboxLabels.MANAGED_BY))
                && SandboxLabels.COMPONENT_WORKSPACE.equals(labels.get(SandboxLabels.COMPONENT))
                && sandbox.getMetadata().getName().equals(labels.get(SandboxLabels.SANDBOX));
    }

    /** Whether garbage collection takes the claim when the sandbox is deleted. */
    public static boolean goesWith(Sandbox sandbox, PersistentVolumeClaim claim) {
        return claim.getMetadata().getOwnerReferences().stream()
                .anyMatch(owner -> owner.getUid().equals(sandbox.getMetadata().getUid()));
    }

    /** What gives the claim the size that is wanted, as a merge patch; empty if it has that already, or more. */
    public static Optional<Map<String, Object>> growth(Workspace workspace, PersistentVolumeClaim claim) {
        return size(claim).getNumericalAmount().compareTo(workspace.size().getNumericalAmount()) >= 0
                ? Optional.empty()
                : Optional.of(Map.of(
                        "spec",
                        Map.of(
                                "resources",
                                Map.of(
                                        "requests",
                                        Map.of(STORAGE, workspace.size().toString())))));
    }

    /**
     * What ties the claim to its sandbox, or lets it go, as {@code keep} says, as a merge patch; empty if it is so
     * already. A claim that an earlier sandbox kept stays free: only its maker may take it along.
     */
    public static Optional<Map<String, Object>> tie(Sandbox sandbox, Workspace workspace, PersistentVolumeClaim claim) {
        String maker = claim.getMetadata().getLabels().get(SandboxLabels.SANDBOX_UID);
        boolean free = claim.getMetadata().getOwnerReferences().isEmpty();
        boolean ownMade = sandbox.getMetadata().getUid().equals(maker);
        return !ownMade || free == workspace.outlivesSandbox()
                ? Optional.empty()
                : Optional.of(Map.of("metadata", Map.of("ownerReferences", owners(sandbox, workspace))));
    }

    /**
     * Says what of the claim of a pod that runs is not as it is wanted, and why that may be; empty if all is, or soon will
     * be.
     */
    public static Optional<String> shortfall(Sandbox sandbox, PersistentVolumeClaim claim) {
        return leaving(claim)
                .or(() -> notKept(sandbox, claim))
                .or(() -> classes(sandbox, claim)
                        .map(classes -> "its workspace " + classes + ": the next start waits until claim "
                                + claim.getMetadata().getName() + " is deleted, and its files with it"))
                .or(() -> smaller(sandbox, claim));
    }

    /**
     * Says that the files go with the sandbox although they are to stay: some admission plug-ins and webhooks let no
     * account remove an owner. Empty if they stay, or need not.
     */
    public static Optional<String> notKept(Sandbox sandbox, PersistentVolumeClaim claim) {
        return Optional.ofNullable(sandbox.wanted().workspace())
                .filter(workspace -> workspace.outlivesSandbox() && goesWith(sandbox, claim))
                .map(workspace -> "spec.workspace.keep has no effect: claim "
                        + claim.getMetadata().getName()
                        + " will be deleted with the sandbox, because the API server refused to remove its"
                        + " ownerReferences (the operator's log has the reason)");
    }

    /** Kubernetes keeps a claim that is deleted until no pod uses it; from then on nothing brings its files back. */
    private static Optional<String> leaving(PersistentVolumeClaim claim) {
        return Optional.ofNullable(claim.getMetadata().getDeletionTimestamp())
                .map(since -> "claim " + claim.getMetadata().getName()
                        + " was deleted: Kubernetes removes the files of the workspace when this pod ends; copy"
                        + " what you need");
    }

    private static Optional<String> smaller(Sandbox sandbox, PersistentVolumeClaim claim) {
        Workspace workspace = sandbox.wanted().workspace();
        if (workspace == null) {
            return Optional.empty();
        }
        int more = workspace.size().getNumericalAmount().compareTo(size(claim).getNumericalAmount());
        if (more == 0) {
            return Optional.empty();
        }
        return Optional.of(
                "its workspace has " + size(claim) + " and not " + workspace.size() + ": "
                        + (more < 0
                                ? "a claim cannot shrink"
                                : "the claim could not grow, because its storage class does not allow it or a quota is used up"));
    }

    private static Quantity size(PersistentVolumeClaim claim) {
        return Optional.ofNullable(claim.getSpec().getResources())
                .map(resources -> resources.getRequests().get(STORAGE))
                .orElseGet(() -> new Quantity("0"));
    }
}
