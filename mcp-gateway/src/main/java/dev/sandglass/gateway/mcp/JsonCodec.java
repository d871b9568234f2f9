package dev.sandglass.gateway.mcp;

import java.nio.charset.StandardCharsets;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads and writes the endpoint's JSON, with bounds on what strangers send. */
final class JsonCodec {

    private static final int MAX_DEPTH = 32;
    private static final int MAX_NAME_CHARS = 1024;
    private static final int MAX_NUMBER_CHARS = 64;
    private static final int MAX_TOKENS = 200_000;
    private static final int NODE_BYTES = 128;
    private static final int MAX_ID_CHARS = 256;
    private static final int MAX_METHOD_CHARS = 256;

    /** What {@link #isId} takes, in words. */
    static final String FORM_OF_IDS = "a whole number or a text of at most " + MAX_ID_CHARS + " characters";

    private final JsonMapper mapper;

    /**
     * A codec for bodies of a bounded size.
     *
     * @param maxBytes no text in a body can be longer than the body
     */
    JsonCodec(int maxBytes) {
        this.mapper = JsonMapper.builder(JsonFactory.builder()
                        .streamReadConstraints(StreamReadConstraints.builder()
                                .maxNestingDepth(MAX_DEPTH)
                                .maxNameLength(MAX_NAME_CHARS)
                                .maxNumberLength(MAX_NUMBER_CHARS)
                                .maxStringLength(maxBytes)
                                .maxTokenCount(MAX_TOKENS)
                                .build())
                        // Two fields of one name: a proxy in front of us may have read the other one.
                        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                        .build())
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();
    }

    byte[] write(Object value) {
        return LineSeparators.escaped(mapper.writeValueAsBytes(value));
    }

    /**
     * The object in a body, which may begin with the mark of UTF-8; anything else is a JSON-RPC error. Batches went with
     * revision 2025-06-18.
     */
    ObjectNode read(byte[] body) {
        if (isWide(body)) {
            throw McpError.parseError("the body is in UTF-16 or UTF-32; write it in UTF-8");
        }
        JsonNode node = null;
        try {
            node = mapper.readTree(body);
        } catch (JacksonException e) {
            // Told below: what Jackson says would quote the body.
        }
        if (node == null || node.isMissingNode()) {
            throw McpError.parseError(
                    "the body must be JSON in UTF-8, at most %d levels deep and %d names, values and brackets long, without a field twice"
                            .formatted(MAX_DEPTH, MAX_TOKENS));
        }
        if (node.isArray()) {
            throw McpError.invalidRequest("batches are not supported, send each message by itself");
        }
        if (!(node instanceof ObjectNode object)) {
            throw McpError.invalidRequest("the body must be a JSON object");
        }
        return object;
    }

    /** In UTF-16 or UTF-32, which Jackson takes as well; its mark, or a zero beside the first bracket, says so. */
    private static boolean isWide(byte[] body) {
        int mark = body.length < 2 ? 0 : ((body[0] & 0xff) << 8) | (body[1] & 0xff);
        return mark == 0xfeff
                || mark == 0xfffe
                || IntStream.range(0, Math.min(body.length, Integer.BYTES)).anyMatch(i -> body[i] == 0);
    }

    /** What a message holds besides its text, about, in bytes: {@code {},{},…} is thirty times as much once it is read. */
    static long overhead(JsonNode node) {
        long bytes = NODE_BYTES;
        for (JsonNode each : node.values()) {
            bytes += overhead(each);
        }
        return bytes;
    }

    /** The id of a message, if it has one of a valid form; for errors about messages that are otherwise broken. */
    static @Nullable JsonNode idOf(ObjectNode message) {
        JsonNode id = message.path("id");
        return isId(id) ? id : null;
    }

    /** Whether that is the valid form of an id, or of whatever else comes from a client and goes back to it. */
    static boolean isId(JsonNode id) {
        boolean text = id.isString() && id.asString().length() <= MAX_ID_CHARS && isWhole(id.asString());
        return text || id.isIntegralNumber();
    }

    static JsonRpc.Incoming message(ObjectNode message) {
        if (!message.path("jsonrpc").isString()
                || !message.path("jsonrpc").asString().equals("2.0")) {
            throw McpError.invalidRequest("'jsonrpc' must be \"2.0\"");
        }
        JsonNode method = message.path("method");
        if (method.isMissingNode() && (message.has("result") || message.has("error"))) {
            return new JsonRpc.Incoming.Response();
        }
        if (!method.isString() || method.asString().length() > MAX_METHOD_CHARS) {
            throw McpError.invalidRequest("'method' must be a text");
        }
        if (!message.has("id")) {
            return new JsonRpc.Incoming.Notification(method.asString(), paramsOfNotification(message.path("params")));
        }
        ObjectNode params = params(message.path("params"));
        JsonNode id = idOf(message);
        if (id == null) {
            throw McpError.invalidRequest("'id' must be " + FORM_OF_IDS);
        }
        return new JsonRpc.Incoming.Request(id, method.asString(), params);
    }

    /** Without half characters, which no client could read in the answer. */
    private static boolean isWhole(String text) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
    }

    /** Nobody waits for an answer with an id: what cannot be accepted must have an error's status. */
    private static ObjectNode paramsOfNotification(JsonNode params) {
        try {
            return params(params);
        } catch (McpError refused) {
            throw McpError.invalidRequest("'params' must be an object");
        }
    }

    private static ObjectNode params(JsonNode params) {
        return switch (params) {
            case ObjectNode object -> object;
            case JsonNode none when none.isMissingNode() || none.isNull() -> JsonNodeFactory.instance.objectNode();
            default -> throw McpError.invalidParams("Request parameters must be an object");
        };
    }
}
