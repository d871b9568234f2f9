package dev.sandglass.gateway.execution;

import dev.sandglass.gateway.sandbox.RunningSandbox;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * An execution whose output its sandbox still holds.
 *
 * @param id by which it is read
 * @param state {@code queued}, {@code running} or {@code done}
 * @param kind {@code code}, {@code command} or {@code install}
 */
public record KnownExecution(ExecutionId id, String state, String kind) {

    /** Untrusted: empty if it is none. */
    static Optional<KnownExecution> parse(RunningSandbox sandbox, JsonNode json) {
        return ExecutionId.of(sandbox, json.path("execution_id").asString(""))
                .map(id -> new KnownExecution(
                        id, json.path("state").asString(""), json.path("kind").asString("")));
    }
}
