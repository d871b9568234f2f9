package dev.sandglass.gateway.contract;

import dev.sandglass.gateway.caller.Caller;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import reactor.core.publisher.Mono;
import tools.jackson.databind.node.ObjectNode;

/** One tool: its description, and what it does. */
public interface Tool {

    /** What clients are told of it; always the same object. */
    ToolDefinition definition();

    /** Every argument that may be given. */
    default Set<String> knownArguments() {
        Set<String> known = new HashSet<>();
        if (definition().inputSchema().get("properties") instanceof Map<?, ?> properties) {
            properties.keySet().forEach(name -> known.add(String.valueOf(name)));
        }
        return known;
    }

    /**
     * The arguments as the tool reads them: what a model wrote for them in another spelling or type is put right where it
     * can mean one thing only; the rest stays as it came.
     */
    default ObjectNode understood(ObjectNode arguments) {
        return ArgumentRepair.of(definition().inputSchema(), arguments);
    }

    /**
     * The sandbox that a call is about, for the audit log, where the tool's arguments do not name it; empty where they do.
     *
     * @param session that the contract gave the client; empty if it has none
     */
    default Optional<Subject> subject(Caller caller, Optional<String> session) {
        return Optional.empty();
    }

    /**
     * A sandbox as the audit log names it: what was asked for, whether it exists or not.
     *
     * @param namespace the tenant, as callers write it
     * @param sandbox the name, as callers write it
     */
    record Subject(String namespace, String sandbox) {}

    /**
     * Does it. Cancelling the subscription gives up the call: what it runs is interrupted, unless it was started in the
     * background.
     *
     * @return the answer, also for failures of the code that was run. Errors with {@link InvalidArgument} and
     *     {@link dev.sandglass.gateway.sandbox.SandboxProblem}, thrown at once or emitted, hold text for the caller; any
     *     other error is a fault of the gateway
     */
    Mono<ToolResult> call(ToolCall call);

    /**
     * The answer to a call that broke a rule or met a problem of its sandbox, in the words of the tool's contract. By
     * itself it says what happened, and not what to do about it.
     *
     * @param problem what {@link #call} errored with, or {@link InvalidArgument} for an argument that is not known
     */
    default ToolResult refused(Throwable problem) {
        return ToolResult.error(String.valueOf(problem.getMessage()), ToolResult.REFUSED);
    }
}
