package dev.sandglass.gateway.mcp;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The messages of JSON-RPC 2.0 as MCP uses them: no batches, ids are texts or whole numbers, parameters are objects. */
final class JsonRpc {

    private static final String VERSION = "2.0";

    private JsonRpc() {}

    /** What a client may send. */
    sealed interface Incoming {
        /** Wants exactly one response with the same id. */
        record Request(JsonNode id, String method, ObjectNode params) implements Incoming {}

        /** Wants none. */
        record Notification(String method, ObjectNode params) implements Incoming {}

        /** A response; we ask clients nothing, so that nothing waits for it. */
        record Response() implements Incoming {}
    }

    /** What went wrong. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Problem(int code, String message, @Nullable Object data) {}

    /** The answer to a request; exactly one of result and error is there. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    @JsonPropertyOrder({"jsonrpc", "id", "result", "error"})
    record Answer(
            String jsonrpc,
            @Nullable JsonNode id,
            @Nullable Object result,
            @Nullable Problem error) {

        static Answer result(JsonNode id, Object result) {
            return new Answer(VERSION, id, result, null);
        }

        /** The id is absent if it could not be read. */
        static Answer error(@Nullable JsonNode id, Problem problem) {
            return new Answer(VERSION, id, null, problem);
        }
    }

    /** A message of ours that wants no answer. */
    @JsonPropertyOrder({"jsonrpc", "method", "params"})
    record OutgoingNotification(String jsonrpc, String method, Object params) {

        static OutgoingNotification of(String method, Object params) {
            return new OutgoingNotification(VERSION, method, params);
        }
    }
}
