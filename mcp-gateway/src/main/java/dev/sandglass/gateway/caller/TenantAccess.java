package dev.sandglass.gateway.caller;

import dev.sandglass.api.SandboxLabels;
import dev.sandglass.api.name.SandboxName;
import dev.sandglass.api.name.TenantName;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import reactor.core.publisher.Mono;

/**
 * Turns the names in a call's arguments into places, and checks the caller's rights on the way. There is no other way to
 * a {@link SandboxRef}, so that no tool can forget the check (contracts.md M37).
 */
public final class TenantAccess {

    private static final String USUAL = "default";

    private static final String HOW_TO_ADD =
            " An administrator adds one to 'tenants' of the chart, or with 'tenantsByLabel' by: kubectl label namespace NAME %s=%s";

    private final Tenants tenants;
    private final Optional<NewTenants> news;
    private final Predicate<String> isNamed;

    /** Knows the tenants of the installation. */
    public TenantAccess(Tenants tenants) {
        this(tenants, Optional.empty(), tenant -> false);
    }

    /**
     * The same where tenants may be made.
     *
     * @param news makes them for callers of all tenants; empty if the installation makes none
     * @param isNamed whether an administrator gave that tenant to a caller by its name: such a one comes and goes by an
     *     administrator's hand alone
     */
    public TenantAccess(Tenants tenants, Optional<NewTenants> news, Predicate<String> isNamed) {
        this.tenants = tenants;
        this.news = news;
        this.isNamed = isNamed;
    }

    /**
     * A tenant together with its Kubernetes namespace.
     *
     * @param name as callers write it
     * @param namespace where its sandboxes live
     */
    public record Tenant(String name, String namespace) {

        /** The sandbox of that given name in this tenant. */
        public SandboxRef sandbox(SandboxName name) {
            return new SandboxRef(this.name, namespace, name.resourceName(), name.given());
        }
    }

    /**
     * The sandbox that a caller names.
     *
     * @param namespace the tenant; the caller's own if absent
     * @throws dev.sandglass.api.name.InvalidNameException if a name breaks the grammar
     * @throws SandboxProblem.Refused if there is no such tenant for this caller
     */
    public SandboxRef sandbox(Caller caller, Optional<String> namespace, String givenName) {
        return tenant(caller, namespace).sandbox(new SandboxName(givenName));
    }

    /**
     * The sandbox of a start: the tenant is made if there is none of that name, no caller was given it by its name, this
     * caller may use all of them, and the installation makes any.
     *
     * @return errors, or throws, as {@link #sandbox}
     */
    public Mono<SandboxRef> sandboxToStart(Caller caller, Optional<String> namespace, String givenName) {
        Optional<String> missing = namespace
                .map(given -> new TenantName(given).given())
                .filter(name -> isForAll(caller) && tenants.namespaceOf(name).isEmpty() && isMade(name));
        if (missing.isEmpty()) {
            return Mono.just(sandbox(caller, namespace, givenName));
        }
        var sandbox = new SandboxName(givenName);
        return news.orElseThrow().make(caller, missing.get()).map(place -> new Tenant(missing.get(), place)
                .sandbox(sandbox));
    }

    private boolean isMade(String name) {
        return news.isPresent() && !isNamed.test(name);
    }

    private static boolean isForAll(Caller caller) {
        return caller.tenants().contains(Caller.ALL_TENANTS);
    }

    /** The tenant that a caller names, or its own. The same words for a tenant that is unknown and one that is not his. */
    public Tenant tenant(Caller caller, Optional<String> namespace) {
        String name = namespace.map(given -> new TenantName(given).given()).orElseGet(() -> own(caller));
        if (!caller.mayUse(name)) {
            throw noSuchTenant(caller, name);
        }
        return tenants.namespaceOf(name)
                .map(place -> new Tenant(name, place))
                .orElseThrow(() -> noSuchTenant(caller, name));
    }

    /** Every tenant that this caller may use, ordered by name. */
    public List<Tenant> visible(Caller caller) {
        return tenants.names().stream()
                .filter(caller::mayUse)
                .map(name -> new Tenant(name, tenants.namespaceOf(name).orElseThrow()))
                .toList();
    }

    /**
     * The tenant that a caller means who names none, be there one of that name or not. Callers make tenants, and none may
     * so choose where another's sandboxes land.
     */
    public String own(Caller caller) {
        List<String> named = caller.tenants().stream()
                .filter(tenant -> !tenant.equals(Caller.ALL_TENANTS))
                .toList();
        List<String> candidates = named.isEmpty() ? lasting() : named;
        if (candidates.isEmpty() || (named.isEmpty() && candidates.contains(USUAL))) {
            return USUAL;
        }
        return candidates.getFirst();
    }

    private List<String> lasting() {
        return tenants.names().stream()
                .filter(name -> !tenants.namespaceOf(name).orElse("").startsWith(NewTenants.PREFIX))
                .toList();
    }

    private String howToAdd(String name) {
        return isMade(name)
                ? " A start of a sandbox in it, at /mcp, makes it."
                : HOW_TO_ADD.formatted(SandboxLabels.TENANT, name);
    }

    private SandboxProblem.Refused noSuchTenant(Caller caller, String name) {
        List<String> names =
                visible(caller).stream().map(Tenant::name).limit(20).toList();
        return new SandboxProblem.Refused("Namespace '%s' does not exist. %s"
                        .formatted(
                                name,
                                names.isEmpty()
                                        ? "Your API key has no namespace; ask whoever runs this installation."
                                        : "Namespaces that you can use: " + String.join(", ", names) + ".")
                + (isForAll(caller) ? howToAdd(name) : ""));
    }
}
