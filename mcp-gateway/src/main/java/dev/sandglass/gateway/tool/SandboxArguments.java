package dev.sandglass.gateway.tool;

import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.sandbox.SandboxRef;

/** The two arguments that nearly every tool has: {@code sandbox} and {@code namespace}. */
final class SandboxArguments {

    /** More than any valid name has, so that the name's own rule gives the error text. */
    private static final int MAX_CHARS = 1000;

    private SandboxArguments() {}

    static Schema schema() {
        return Schema.object()
                .required("sandbox", name("Name of the sandbox"))
                .optional("namespace", name("Tenant the sandbox belongs to; your own if left out"));
    }

    /** A name of contracts.md M27. */
    static Schema name(String description) {
        return Schema.text(description)
                .with("minLength", 1)
                .maxLength(63)
                .with("pattern", "^[A-Za-z0-9][A-Za-z0-9_-]*$");
    }

    /** The sandbox that the arguments name, if the caller may use it; the text of a missing one is contracts.md M31. */
    static SandboxRef read(ToolCall call, TenantAccess access) {
        Arguments arguments = call.arguments();
        String sandbox = arguments
                .text("sandbox", MAX_CHARS)
                .orElseThrow(() -> new InvalidArgument("Missing required 'sandbox' parameter for portal request"));
        return access.sandbox(call.caller(), arguments.text("namespace", MAX_CHARS), sandbox);
    }
}
