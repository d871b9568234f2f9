package dev.sandglass.operator.child;

import dev.sandglass.api.Sandbox;

/**
 * Names of the objects that belong to a sandbox, but for its pods ({@link SandboxPod#subject}). They derive from its UID, never
 * from text that a tenant chose.
 */
public final class ChildNames {

    /** Name of the NetworkPolicy that cuts off every sandbox pod of a namespace. */
    public static final String NAMESPACE_POLICY = "sandglass-default-deny";

    /** Name of the NetworkPolicy that lets all sandbox pods of a namespace do what each of them needs. */
    public static final String NAMESPACE_ACCESS = "sandglass-access";

    private ChildNames() {}

    /** Whether a NetworkPolicy of this name is for all sandboxes of its namespace. */
    public static boolean ofNamespace(String name) {
        return name.equals(NAMESPACE_POLICY) || name.equals(NAMESPACE_ACCESS);
    }

    /** Name of the claim of a workspace that outlives the pod: the one name that derives from the sandbox's. */
    public static String workspace(Sandbox sandbox) {
        return "workspace-" + sandbox.getMetadata().getName();
    }

    /** Name of the sandbox's own NetworkPolicy, if it needs one. */
    public static String networkPolicy(Sandbox sandbox) {
        return "sbx-" + sandbox.getMetadata().getUid();
    }
}
