package dev.sandglass.gateway.contract.sandglass.sandbox;

import dev.sandglass.api.name.TenantName;
import dev.sandglass.gateway.caller.TenantAccess;
import dev.sandglass.gateway.contract.Arguments;
import dev.sandglass.gateway.contract.InvalidArgument;
import dev.sandglass.gateway.contract.Schema;
import dev.sandglass.gateway.contract.ToolCall;
import dev.sandglass.gateway.sandbox.SandboxRef;
import reactor.core.publisher.Mono;

/** The two arguments that nearly every tool has: {@code sandbox} and {@code namespace}. */
public final class SandboxArguments {

    /** More than any valid name has, so that the name's own rule gives the error text. */
    private static final int MAX_CHARS = 1000;

    private SandboxArguments() {}

    public static Schema schema() {
        return Schema.object()
                .required("sandbox", Schema.ofType("string"))
                .optional("namespace", Schema.ofType("string"));
    }

    /** The same where another argument may say which sandbox it is. */
    public static Schema schemaOfKnown() {
        return Schema.object()
                .optional("sandbox", Schema.ofType("string"))
                .optional("namespace", Schema.ofType("string"));
    }

    /** The same where a name that is new makes a sandbox; what it says of them holds for the other tools. */
    public static Schema schemaForNew() {
        return Schema.object()
                .required("sandbox", Schema.text("Name of your choice: letters, digits, '-', '_'"))
                .optional("namespace", Schema.text("Tenant; default your own"));
    }

    /** The sandbox that the arguments name, if the caller may use it. */
    public static SandboxRef read(ToolCall call, TenantAccess access) {
        if (call.arguments()
                .text("namespace", MAX_CHARS)
                .filter(TenantName.WILDCARD::equals)
                .isPresent()) {
            throw new InvalidArgument(
                    "Wildcard namespace (*) is for sandbox_list and sandbox_get_metrics alone; name one"
                            + " namespace, or leave it out for your own");
        }
        return readNew(call, access);
    }

    /** The same of one that may have to be made: the text of a wildcard is that of contracts.md M28. */
    public static SandboxRef readNew(ToolCall call, TenantAccess access) {
        return access.sandbox(call.caller(), call.arguments().text("namespace", MAX_CHARS), name(call.arguments()));
    }

    /** The same of a start, for which its tenant may have to be made, too (contracts.md M44). */
    static Mono<SandboxRef> readToStart(ToolCall call, TenantAccess access) {
        return access.sandboxToStart(
                call.caller(), call.arguments().text("namespace", MAX_CHARS), name(call.arguments()));
    }

    /** The text up to the colon is that of contracts.md M31. */
    private static String name(Arguments arguments) {
        return arguments
                .given("sandbox", MAX_CHARS)
                .orElseThrow(() -> new InvalidArgument(
                        "Missing required 'sandbox' parameter for portal request: give the name of the sandbox"));
    }
}
