package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolResult;
import dev.sandglass.gateway.sandbox.SandboxRef;
import java.util.List;
import java.util.Map;

/**
 * What {@code sandbox_start} and {@code sandbox_stop} tell programs.
 *
 * @param sandbox the name as the caller wrote it
 * @param namespace the tenant
 * @param status one word
 */
record SandboxAnswer(String sandbox, String namespace, String status) {

    static Map<String, Object> schema(String... statuses) {
        return Schema.object()
                .required("sandbox", Schema.text("Name of the sandbox"))
                .required("namespace", Schema.text("Tenant the sandbox belongs to"))
                .required("status", Schema.text("What became of it").with("enum", List.of(statuses)))
                .keywords();
    }

    static ToolResult of(SandboxRef ref, String status, String text) {
        return ToolResult.ok(text, new SandboxAnswer(ref.givenName(), ref.tenant(), status));
    }
}
