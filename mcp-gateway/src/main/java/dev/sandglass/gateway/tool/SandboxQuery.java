package dev.sandglass.gateway.tool;

import dev.sandglass.api.TenantName;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.sandbox.SandboxProblem;
import dev.sandglass.gateway.sandbox.SandboxRef;
import dev.sandglass.gateway.sandbox.SandboxState;
import dev.sandglass.gateway.sandbox.Sandboxes;
import java.util.List;
import java.util.Optional;

/**
 * The sandboxes that a question is about: one, those of a tenant, or with {@code *} those of every tenant that the caller
 * may see (contracts.md M22).
 */
final class SandboxQuery {

    /** More than any valid name has, so that the name's own rule gives the error text. */
    private static final int MAX_NAME_CHARS = 1000;

    private final TenantAccess access;
    private final Sandboxes sandboxes;

    SandboxQuery(TenantAccess access, Sandboxes sandboxes) {
        this.access = access;
        this.sandboxes = sandboxes;
    }

    /**
     * The arguments.
     *
     * @param sandbox what is said of the name
     */
    static Schema schema(String sandbox) {
        return Schema.object()
                .optional("sandbox", SandboxArguments.name(sandbox))
                .optional(
                        "namespace",
                        Schema.text("Tenant; your own if left out, '*' for all that you may see")
                                .maxLength(63));
    }

    /** Ordered by tenant and name; with {@code *} a name stands for those of all tenants, be it none. */
    List<SandboxState> chosen(ToolCall call) {
        Optional<String> namespace = call.arguments().text("namespace", MAX_NAME_CHARS);
        Optional<String> name = call.arguments().text("sandbox", MAX_NAME_CHARS);
        if (namespace.filter(TenantName.WILDCARD::equals).isPresent()) {
            return access.visible(call.caller()).stream()
                    .flatMap(tenant -> all(tenant).stream())
                    .filter(state -> name.isEmpty() || state.ref().givenName().equals(name.get()))
                    .toList();
        }
        return name.map(one -> List.of(one(access.sandbox(call.caller(), namespace, one))))
                .orElseGet(() -> all(access.tenant(call.caller(), namespace)));
    }

    private SandboxState one(SandboxRef ref) {
        return sandboxes.find(ref).orElseThrow(() -> new SandboxProblem.NotFound(ref.givenName(), ref.tenant()));
    }

    private List<SandboxState> all(TenantAccess.Tenant tenant) {
        return sandboxes.list(tenant.name(), tenant.namespace());
    }
}
