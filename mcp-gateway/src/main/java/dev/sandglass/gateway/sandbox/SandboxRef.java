package dev.sandglass.gateway.sandbox;

import dev.sandglass.api.toolserver.SandboxToolServer;

/**
 * A sandbox as a caller names it, resolved to the place where it lives. Holding one proves nothing: the sandbox may not
 * exist.
 *
 * @param tenant the name callers use in {@code namespace}
 * @param namespace the Kubernetes namespace of that tenant
 * @param name the name of the resource
 * @param givenName the name as the caller wrote it, shown in every text
 */
public record SandboxRef(String tenant, String namespace, String name, String givenName) {

    /** Whether the name is one that only sandboxes of shared MCP servers get. */
    public boolean isReserved() {
        return name.endsWith(SandboxToolServer.CHILD_SUFFIX);
    }
}
