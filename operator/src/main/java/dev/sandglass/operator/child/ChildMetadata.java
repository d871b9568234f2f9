package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;
import dev.sandglass.api.SandboxLabels;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;

/** Labels and ownership that all children share; garbage collection goes by the latter. */
public final class ChildMetadata {

    private ChildMetadata() {}

    static ObjectMeta of(Sandbox sandbox, String name) {
        return new ObjectMetaBuilder()
                .withName(name)
                .withNamespace(sandbox.getMetadata().getNamespace())
                .addToLabels(SandboxLabels.MANAGED_BY, SandboxLabels.OPERATOR)
                .addToLabels(SandboxLabels.COMPONENT, SandboxLabels.COMPONENT_SANDBOX)
                .addToLabels(SandboxLabels.SANDBOX, sandbox.getMetadata().getName())
                .addToLabels(SandboxLabels.SANDBOX_UID, sandbox.getMetadata().getUid())
                .withOwnerReferences(owner(sandbox))
                .build();
    }

    /** That of the Secret of one incarnation, and of its pod. */
    public static ObjectMeta ofIncarnation(Sandbox sandbox, int incarnation) {
        return of(sandbox, SandboxPod.subject(sandbox, incarnation).name())
                .edit()
                .addToLabels(SandboxLabels.INCARNATION, Integer.toString(incarnation))
                .build();
    }

    /**
     * Without {@code blockOwnerDeletion}: it would need a right on the owner's finalizers, and no client waits for these
     * children to go.
     */
    static OwnerReference owner(HasMetadata owner) {
        return new OwnerReferenceBuilder()
                .withApiVersion(owner.getApiVersion())
                .withKind(owner.getKind())
                .withName(owner.getMetadata().getName())
                .withUid(owner.getMetadata().getUid())
                .withController(true)
                .build();
    }

    /** Whether garbage collection takes that object with the sandbox. */
    public static boolean owns(Sandbox sandbox, HasMetadata child) {
        return child.getMetadata().getOwnerReferences().stream()
                .anyMatch(owner -> owner.getUid().equals(sandbox.getMetadata().getUid()));
    }
}
