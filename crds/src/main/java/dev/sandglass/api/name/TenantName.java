package dev.sandglass.api.name;

/**
 * The name of a tenant, which callers give in the argument {@code namespace}. The same grammar as {@link SandboxName};
 * the installation maps it to a Kubernetes namespace.
 *
 * @param given the name as the caller wrote it
 */
public record TenantName(String given) {

    /** What callers write to mean every tenant they may see; valid in queries only. */
    public static final String WILDCARD = "*";

    /**
     * @throws InvalidNameException if the name breaks the grammar; its message is meant for the caller
     */
    public TenantName {
        if (given.equals(WILDCARD)) {
            throw new InvalidNameException("Wildcard namespace (*) is not valid for sandbox creation");
        }
        GivenNames.check("Namespace", given);
    }
}
