package dev.sandglass.gateway.mcp;

import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Which of the protocol's two manners a request has. Both are served at one URL; each request tells by itself
 * (2026-07-28, basic, versioning).
 */
enum ProtocolRevision {
    /** With {@code initialize}, up to revision 2025-11-25. */
    LEGACY,
    /** Version and capabilities in every request, from revision 2026-07-28. */
    MODERN;

    static final String MODERN_VERSION = "2026-07-28";
    static final String NEWEST_LEGACY_VERSION = "2025-11-25";
    static final List<String> LEGACY_VERSIONS =
            List.of(NEWEST_LEGACY_VERSION, "2025-06-18", "2025-03-26", "2024-11-05");
    static final List<String> ALL_VERSIONS =
            List.of(MODERN_VERSION, NEWEST_LEGACY_VERSION, "2025-06-18", "2025-03-26", "2024-11-05");

    private static final String VERSION_HEADER = "MCP-Protocol-Version";
    private static final String METHOD_HEADER = "Mcp-Method";
    private static final String NAME_HEADER = "Mcp-Name";
    private static final String META_VERSION = "io.modelcontextprotocol/protocolVersion";
    private static final String META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
    private static final String BASE64_START = "=?base64?";
    private static final String BASE64_END = "?=";

    /** The era of a request, after all that the era demands of headers and {@code _meta} was checked. */
    static ProtocolRevision of(JsonRpc.Incoming.Request request, HttpHeaders headers) {
        JsonNode inBody = request.params().path("_meta").path(META_VERSION);
        @Nullable String inHeader = headers.get(VERSION_HEADER);
        boolean legacy = inBody.isMissingNode()
                ? !MODERN_VERSION.equals(inHeader)
                : LEGACY_VERSIONS.contains(inBody.asString(""));
        if (legacy) {
            boolean versionChosen = request.method().equals("initialize");
            if (inHeader != null && !versionChosen && !LEGACY_VERSIONS.contains(inHeader)) {
                throw McpError.unsupportedVersion(inHeader);
            }
            return LEGACY;
        }
        checkMeta(request.params(), inBody);
        checkEqual(VERSION_HEADER, inHeader, inBody.asString());
        if (!MODERN_VERSION.equals(inBody.asString())) {
            throw McpError.unsupportedVersion(inBody.asString());
        }
        checkEqual(METHOD_HEADER, headers.get(METHOD_HEADER), request.method());
        checkName(request, headers.get(NAME_HEADER));
        return MODERN;
    }

    /** What marks a finished result; older clients know no such field. */
    @Nullable
    String resultType() {
        return this == MODERN ? "complete" : null;
    }

    private static void checkMeta(ObjectNode params, JsonNode version) {
        if (!version.isString()) {
            throw McpError.malformedMeta("Missing required '_meta' field '" + META_VERSION + "', a text");
        }
        if (!params.path("_meta").path(META_CAPABILITIES).isObject()) {
            throw McpError.malformedMeta("Missing required '_meta' field '" + META_CAPABILITIES + "', an object");
        }
    }

    private static void checkName(JsonRpc.Incoming.Request request, @Nullable String header) {
        String field =
                switch (request.method()) {
                    case "tools/call", "prompts/get" -> "name";
                    case "resources/read" -> "uri";
                    default -> "";
                };
        if (!field.isEmpty() && request.params().path(field).isString()) {
            String decoded = header == null ? null : decoded(header);
            checkEqual(NAME_HEADER, decoded, request.params().path(field).asString());
        }
    }

    private static void checkEqual(String name, @Nullable String header, String body) {
        if (header == null) {
            throw McpError.headerMismatch("header " + name + " is required");
        }
        if (!header.equals(body)) {
            throw McpError.headerMismatch("header %s has '%s', the body has '%s'"
                    .formatted(name, McpError.shown(header), McpError.shown(body)));
        }
    }

    /** Undoes the encoding for names that are not plain ASCII (2026-07-28, streamable HTTP, "Value encoding"). */
    private static String decoded(String header) {
        if (!header.startsWith(BASE64_START) || !header.endsWith(BASE64_END)) {
            return header;
        }
        int end = header.length() - BASE64_END.length();
        if (end < BASE64_START.length()) {
            return header;
        }
        try {
            byte[] bytes = Base64.getDecoder().decode(header.substring(BASE64_START.length(), end));
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException notBase64) {
            throw McpError.headerMismatch("header " + NAME_HEADER + " is not valid base64");
        }
    }
}
