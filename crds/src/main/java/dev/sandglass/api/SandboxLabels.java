package dev.sandglass.api;

import dev.sandglass.api.name.SandboxName;

/** Label and annotation keys that Sandglass puts on what it makes, and the few values that are fixed. */
public final class SandboxLabels {

    /** Label on pods, NetworkPolicies and Leases: name of the {@code Sandbox} resource. */
    public static final String SANDBOX = "sandglass.dev/sandbox";

    /** Label on pods and NetworkPolicies: UID of the {@code Sandbox} resource. */
    public static final String SANDBOX_UID = "sandglass.dev/sandbox-uid";

    /**
     * Label on sandboxes, and on their pods: name of the {@code SandboxToolServer} whose MCP server runs in it. Only the
     * operator sets it, as admission policies make sure.
     */
    public static final String TOOL_SERVER = "sandglass.dev/tool-server";

    /** Annotation on the pods of tool servers: digest of the names and keys of Secrets that were mounted; no values. */
    public static final String SECRETS_HASH = "sandglass.dev/secrets-hash";

    /** Label on pods: which incarnation of the sandbox this pod is, a decimal number from 1. */
    public static final String INCARNATION = "sandglass.dev/incarnation";

    /** Annotation on pods: digest of the fields of the spec that shaped the pod. */
    public static final String POD_SPEC_HASH = "sandglass.dev/pod-spec-hash";

    /** Annotation on pods in the place of one that ended: why that one ended, in one word. */
    public static final String LOST = "sandglass.dev/lost";

    /** Annotation on pods: maximum lifetime in seconds that the spec gave them; absent if it is the installation's. */
    public static final String OWN_MAX_LIFETIME = "sandglass.dev/own-max-lifetime";

    /** Label on seats and on the pods that they became: name of the {@code SandboxPool} that made the pod. */
    public static final String POOL = "sandglass.dev/pool";

    /**
     * Label on seats and on the pods that they became: the id that the operator chose for the seat, from which the pod's name,
     * keys, credential and uid derive in place of a sandbox's UID.
     */
    public static final String SEAT = "sandglass.dev/seat";

    /** Annotation on seats: digest of what the seat was made from, so that a change of it replaces the seat. */
    public static final String POOL_TEMPLATE_HASH = "sandglass.dev/pool-template-hash";

    /** Annotation on pods that were seats: when a sandbox claimed the seat, RFC 3339 in UTC with milliseconds. */
    public static final String CLAIMED_AT = "sandglass.dev/claimed-at";

    /** Annotation on pods that were made although the namespace has a pool: why no seat of one was claimed. */
    public static final String COLD_START = "sandglass.dev/cold-start";

    /** Annotation on the claims of workspaces: uid that the files in it belong to, a decimal number. */
    public static final String RUN_AS_USER = "sandglass.dev/run-as-user";

    /** Annotation on sandboxes: the name the caller gave, see {@link SandboxName}. */
    public static final String GIVEN_NAME = "sandglass.dev/given-name";

    /** Annotation on sandboxes: the caller that asked the gateway for it. */
    public static final String CREATED_BY = "sandglass.dev/created-by";

    /**
     * Annotation on tool servers that agents registered: a number. Of several of one name for one sandbox, the one with the
     * lowest counts; the others stand aside until they run.
     */
    public static final String REGISTRATION = "sandglass.dev/registration";

    /**
     * Annotation on sandboxes: ends the sleep that began at that time, written as {@code status.suspendedAt} has it. For
     * people; it ends no other sleep and does nothing while a pod runs or {@code spec.suspended} is true.
     */
    public static final String WAKE = "sandglass.dev/wake";

    /**
     * Annotation on the sandboxes of tool servers: what a gateway learned of the MCP server, see
     * {@link dev.sandglass.api.toolserver.ServerHandshake}. Only the gateway sets it, as an admission policy makes sure.
     */
    public static final String MCP_HANDSHAKE = "sandglass.dev/mcp-handshake";

    /** Label that opens a ConfigMap to sandboxes, with the value {@code true}; its owner sets it, never the operator. */
    public static final String MOUNTABLE = "sandglass.dev/mountable";

    /** On a namespace: it is the tenant of that name, where the installation takes tenants by label. */
    public static final String TENANT = "sandglass.dev/tenant";

    /** Annotation on the ConfigMaps with certificate authorities: digest of what the operator wrote into them. */
    public static final String TRUSTED_CA = "sandglass.dev/trusted-ca";

    /** Kubernetes' own label for the program that looks after an object. */
    public static final String MANAGED_BY = "app.kubernetes.io/managed-by";

    /** Kubernetes' own label for the role of an object within an application. */
    public static final String COMPONENT = "app.kubernetes.io/component";

    /** Value of {@link #MANAGED_BY} on everything that the operator makes. */
    public static final String OPERATOR = "sandglass-operator";

    /** Value of {@link #COMPONENT} on the pods of sandboxes. */
    public static final String COMPONENT_SANDBOX = "sandbox";

    /** Value of {@link #COMPONENT} on the claims that hold the workspaces of sandboxes. */
    public static final String COMPONENT_WORKSPACE = "workspace";

    /** Value of {@link #COMPONENT} on the pods of the MCP gateway. */
    public static final String COMPONENT_GATEWAY = "mcp-gateway";

    /** Value of {@link #COMPONENT} on the pods of the egress proxy. */
    public static final String COMPONENT_EGRESS_PROXY = "egress-proxy";

    /** TCP port on which the egress proxy serves sandboxes. */
    public static final int EGRESS_PORT = 3128;

    /** TCP port on which the supervisor in the pod serves the link. */
    public static final int LINK_PORT = 5710;

    private SandboxLabels() {}

    /**
     * Name of the Lease that records a sandbox's activity.
     *
     * @param sandboxUid UID of the sandbox
     */
    public static String leaseName(String sandboxUid) {
        return "sbx-" + sandboxUid;
    }
}
