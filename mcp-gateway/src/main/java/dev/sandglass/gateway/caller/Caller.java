package dev.sandglass.gateway.caller;

import java.util.List;
import java.util.Objects;

/**
 * The authenticated principal of a request.
 *
 * @param name the public name of its key, fit for logs and annotations; never the key itself
 * @param tenants the tenants it may use, the first being its own; {@code *} stands for all
 */
public record Caller(String name, List<String> tenants) {

    /** Stands for every tenant of the installation. */
    public static final String ALL_TENANTS = "*";

    /** Copies the list, so that rights do not change under a running call. */
    public Caller {
        Objects.requireNonNull(name, "name is null");
        tenants = List.copyOf(tenants);
    }

    /** Whether this caller may use the sandboxes of that tenant. */
    public boolean mayUse(String tenant) {
        return tenants.contains(tenant) || tenants.contains(ALL_TENANTS);
    }
}
