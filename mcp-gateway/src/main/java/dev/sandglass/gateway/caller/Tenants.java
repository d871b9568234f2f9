package dev.sandglass.gateway.caller;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The installation's tenants: names that callers use, each mapped to one Kubernetes namespace. Those that the
 * installation names are fixed; others may come and go.
 */
public final class Tenants {

    private final Map<String, String> named;
    private final Supplier<Map<String, String>> others;

    private Tenants(Map<String, String> named, Supplier<Map<String, String>> others) {
        this.named = Map.copyOf(named);
        this.others = others;
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
        return new Tenants(namespaces, Map::of);
    }

    /**
     * These and others, of which one that has the name or the namespace of one of these is left out.
     *
     * @param others name to namespace as it is now; asked whenever a call needs it, so it must not block
     */
    public Tenants with(Supplier<Map<String, String>> others) {
        return new Tenants(named, others);
    }

    /** All tenants, ordered by name. */
    public List<String> names() {
        return List.copyOf(all().keySet());
    }

    /** The Kubernetes namespaces of the tenants that the installation names. */
    public List<String> namedNamespaces() {
        return named.values().stream().sorted().toList();
    }

    /** The Kubernetes namespace of a tenant. */
    public Optional<String> namespaceOf(String tenant) {
        return Optional.ofNullable(named.get(tenant)).or(() -> Optional.ofNullable(all().get(tenant)));
    }

    private Map<String, String> all() {
        var all = new TreeMap<>(named);
        others.get().forEach((tenant, namespace) -> {
            if (!named.containsValue(namespace)) {
                all.putIfAbsent(tenant, namespace);
            }
        });
        return all;
    }
}
