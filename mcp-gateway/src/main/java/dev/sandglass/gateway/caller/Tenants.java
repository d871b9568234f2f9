package dev.sandglass.gateway.caller;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The installation's tenants: names that callers use, each mapped to one Kubernetes namespace. */
public final class Tenants {

    private final Map<String, String> namespaces;

    private Tenants(Map<String, String> namespaces) {
        this.namespaces = namespaces;
    }

    /**
     * Reads {@code tenant=namespace} pairs.
     *
     * @throws IllegalArgumentException if a pair has another shape, or a tenant is named twice
     */
    public static Tenants parse(List<String> pairs) {
        var namespaces = new TreeMap<String, String>();
        for (String pair : pairs) {
            String[] parts = pair.strip().split("=", -1);
            if (parts.length != 2 || parts[0].isBlank() || parts[1].isBlank()) {
                throw new IllegalArgumentException(
                        "gateway.tenants: '" + pair + "' is not of the form tenant=namespace");
            }
            if (namespaces.put(parts[0].strip(), parts[1].strip()) != null) {
                throw new IllegalArgumentException("gateway.tenants: '" + parts[0] + "' is named twice");
            }
        }
        return new Tenants(namespaces);
    }

    /** All tenants, ordered by name. */
    public List<String> names() {
        return List.copyOf(namespaces.keySet());
    }

    /** The Kubernetes namespaces of all tenants. */
    public List<String> namespaces() {
        return List.copyOf(namespaces.values());
    }

    /** The Kubernetes namespace of a tenant. */
    public Optional<String> namespaceOf(String tenant) {
        return Optional.ofNullable(namespaces.get(tenant));
    }
}
