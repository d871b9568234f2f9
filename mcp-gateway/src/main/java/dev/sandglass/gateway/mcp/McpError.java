package dev.sandglass.gateway.mcp;

import dev.sandglass.api.ForeignText;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request that cannot be served as it is, in JSON-RPC's terms. What a tool refuses is no such error but a result, so
 * that the model sees it. Codes: JSON-RPC 2.0 and MCP 2026-07-28, basic, "Error codes".
 */
final class McpError extends RuntimeException {

    static final int PARSE_ERROR = -32700;
    static final int INVALID_REQUEST = -32600;
    static final int METHOD_NOT_FOUND = -32601;
    static final int INVALID_PARAMS = -32602;
    static final int INTERNAL_ERROR = -32603;
    static final int RESOURCE_NOT_FOUND = -32002;
    static final int HEADER_MISMATCH = -32020;
    static final int UNSUPPORTED_VERSION = -32022;

    /** What to write into the header. */
    static final String ACCEPT = "send 'application/json, text/event-stream', as MCP has it, or leave it out";

    /** Of a fault of ours; what it was stands in the log only. */
    static final String FAULT = "Internal error of the gateway; its log says more";

    private static final int MAX_SHOWN = 100;

    private final int code;
    private final HttpResponseStatus status;
    private final transient @Nullable Object data;

    private McpError(int code, HttpResponseStatus status, String message, @Nullable Object data) {
        super(message, null, false, false);
        this.code = code;
        this.status = status;
        this.data = data;
    }

    static McpError parseError(String why) {
        return new McpError(PARSE_ERROR, HttpResponseStatus.BAD_REQUEST, "Parse error: " + why, null);
    }

    static McpError invalidRequest(String why) {
        return new McpError(INVALID_REQUEST, HttpResponseStatus.BAD_REQUEST, "Invalid request: " + why, null);
    }

    /** Not let in; the message is a constant of ours. */
    static McpError refused(HttpResponseStatus status, String message) {
        return new McpError(INVALID_REQUEST, status, message, null);
    }

    static McpError tooLarge(long mostBytes) {
        return new McpError(
                INVALID_REQUEST,
                HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
                "Invalid request: the body has more than %d bytes; write large files in parts".formatted(mostBytes),
                null);
    }

    /**
     * No room for another body for the time being.
     *
     * @param whose bodies hold how much, as the beginning of a sentence
     */
    static McpError busy(String whose, long mostBytes) {
        return new McpError(
                INTERNAL_ERROR,
                HttpResponseStatus.SERVICE_UNAVAILABLE,
                ("Too much at once: %s %d bytes on this replica, the most; wait until some are answered and try again,"
                                + " and write large files in parts")
                        .formatted(whose, mostBytes),
                null);
    }

    static McpError tooSlow() {
        return new McpError(
                INVALID_REQUEST,
                HttpResponseStatus.REQUEST_TIMEOUT,
                "Invalid request: the body did not come in time",
                null);
    }

    static McpError notJson() {
        return refused(
                HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
                "Invalid request: header Content-Type must be application/json, with charset=utf-8 or without charset;"
                        + " write the body in UTF-8");
    }

    static McpError compressed() {
        return refused(
                HttpResponseStatus.UNSUPPORTED_MEDIA_TYPE,
                "Invalid request: header Content-Encoding must be left out; send the body as it is, uncompressed");
    }

    static McpError expectationFailed() {
        return refused(
                HttpResponseStatus.EXPECTATION_FAILED,
                "Invalid request: header Expect must be 100-continue or be left out");
    }

    static McpError notAcceptable() {
        return refused(
                HttpResponseStatus.NOT_ACCEPTABLE,
                "Invalid request: header Accept excludes what is answered; " + ACCEPT);
    }

    /** 404 lets a newer client tell an unknown method from an unknown endpoint; older ones expect 200. */
    static McpError methodNotFound(String method, ProtocolRevision era) {
        HttpResponseStatus status =
                era == ProtocolRevision.MODERN ? HttpResponseStatus.NOT_FOUND : HttpResponseStatus.OK;
        return new McpError(METHOD_NOT_FOUND, status, "Method '%s' not found".formatted(shown(method)), null);
    }

    static McpError invalidParams(String why) {
        return new McpError(INVALID_PARAMS, HttpResponseStatus.OK, why, null);
    }

    /** The newer revision gave up a code of its own for this. */
    static McpError unknownResource(String why, String uri, ProtocolRevision era) {
        int code = era == ProtocolRevision.MODERN ? INVALID_PARAMS : RESOURCE_NOT_FOUND;
        return new McpError(code, HttpResponseStatus.OK, why, Map.of("uri", shown(uri)));
    }

    /** The request is right, and cannot be served now; the message says why and what to do. */
    static McpError unavailable(String why) {
        return new McpError(INTERNAL_ERROR, HttpResponseStatus.OK, why, null);
    }

    /** A required field of {@code _meta} is missing: the request itself is malformed (2026-07-28, basic, "_meta"). */
    static McpError malformedMeta(String why) {
        return new McpError(INVALID_PARAMS, HttpResponseStatus.BAD_REQUEST, why, null);
    }

    /** The client has to begin a new one (2025-11-25, "Session management", 4). */
    static McpError unknownSession() {
        return new McpError(
                INVALID_REQUEST,
                HttpResponseStatus.NOT_FOUND,
                "Session not found: it was ended, or is not yours; begin a new one with 'initialize'",
                null);
    }

    static McpError headerMismatch(String why) {
        return new McpError(HEADER_MISMATCH, HttpResponseStatus.BAD_REQUEST, "Header mismatch: " + why, null);
    }

    static McpError unsupportedVersion(String requested) {
        return new McpError(
                UNSUPPORTED_VERSION,
                HttpResponseStatus.BAD_REQUEST,
                "Unsupported protocol version",
                Map.of("supported", List.copyOf(ProtocolRevision.ALL_VERSIONS), "requested", shown(requested)));
    }

    static McpError cancelled() {
        return new McpError(INTERNAL_ERROR, HttpResponseStatus.OK, "Cancelled by notifications/cancelled", null);
    }

    /** A fault of ours; what it was stands in the log only. */
    static McpError internal() {
        return new McpError(INTERNAL_ERROR, HttpResponseStatus.OK, FAULT, null);
    }

    HttpResponseStatus status() {
        return status;
    }

    JsonRpc.Problem problem() {
        return new JsonRpc.Problem(code, String.valueOf(getMessage()), data);
    }

    /** Text of a caller in a message of ours: short, and on one line. */
    static String shown(String text) {
        return ForeignText.line(text, MAX_SHOWN);
    }
}
