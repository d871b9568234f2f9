package dev.sandglass.gateway.action;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Optional;

/** The sandboxes that a question is about. */
public sealed interface Selection {

    /** That one, which must exist. */
    record One(SandboxRef ref) implements Selection {}

    /**
     * All of those tenants.
     *
     * @param givenName only those of that name, be it none; empty for all
     */
    record All(List<TenantAccess.Tenant> tenants, Optional<String> givenName) implements Selection {

        /** Keeps its own copy of the list. */
        public All {
            tenants = List.copyOf(tenants);
        }
    }
}
