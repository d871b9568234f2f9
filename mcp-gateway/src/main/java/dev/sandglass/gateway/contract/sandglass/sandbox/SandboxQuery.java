package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.name.TenantName;
import dev.sandglass.gateway.action.Selection;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import java.util.List;
import java.util.Optional;

/**
 * The sandboxes that a question is about: one, those of a tenant, or with {@code *} those of every tenant that the caller
 * may see (contracts.md M22).
 */
final class SandboxQuery {

    /** More than any valid name has, so that the name's own rule gives the error text. */
    private static final int MAX_NAME_CHARS = 1000;

    private SandboxQuery() {}

    /**
     * The arguments.
     *
     * @param sandbox what is said of the name
     */
    static Schema schema(String sandbox) {
        return Schema.object()
                .optional("sandbox", Schema.text(sandbox))
                .optional("namespace", Schema.text("Tenant; default your own, '*' for all that you may see"));
    }

    /** What the arguments select; with {@code *} a name stands for those of all tenants, be it none. */
    static Selection read(ToolCall call, TenantAccess access) {
        Optional<String> namespace = call.arguments().text("namespace", MAX_NAME_CHARS);
        Optional<String> name = call.arguments().text("sandbox", MAX_NAME_CHARS);
        if (namespace.filter(TenantName.WILDCARD::equals).isPresent()) {
            return new Selection.All(access.visible(call.caller()), name);
        }
        return name.<Selection>map(one -> new Selection.One(access.sandbox(call.caller(), namespace, one)))
                .orElseGet(() -> new Selection.All(List.of(access.tenant(call.caller(), namespace)), Optional.empty()));
    }
}
