package dev.sandglass.gateway.caller;

import reactor.core.publisher.Mono;

/** Makes tenants that are not there yet, where the installation lets callers of all tenants have them (contracts.md M44). */
@FunctionalInterface
public interface NewTenants {

    /** Of the names of all namespaces that are made so; no other has it. */
    String PREFIX = "sandglass-tenant-";

    /**
     * Makes the Kubernetes namespace of a tenant, and waits until it is known here.
     *
     * @param caller who starts a sandbox in it, for the log
     * @param tenant a name that no tenant has
     * @return its namespace; errors with {@link dev.sandglass.gateway.sandbox.SandboxProblem} whose text is for the caller
     */
    Mono<String> make(Caller caller, String tenant);
}
