package dev.sandglass.gateway.link.frame;

import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A supervisor's frames, decoded; protocol version 1: {@code R | request id | json | blob?},
 * {@code O | execution id | offset | kind | json | blob}, {@code E | kernel | seq | json}, {@code T | call id | json | blob?}
 * and {@code X | call id}. Pure, and never throws: the
 * far side runs next to code that we do not trust, so every field is checked and everything odd is {@link
 * Inbound.Malformed}.
 */
public final class InboundFrames {

    /** Most frames a message has. */
    public static final int MAX_FRAMES = 6;

    static final int MAX_JSON = 1024 * 1024;
    static final int MAX_BLOB = 8 * 1024 * 1024;

    /** Most characters of a message in words: a supervisor's bound is 4,096 code points. */
    static final int MAX_WORDS = 2 * 4096;

    /** Most characters of a name that code can choose, as that of an exception. */
    static final int MAX_NAME = 256;

    private static final int MAX_ID = 255;
    private static final int MAX_PATH = 4096;
    // The supervisor's bound in code points.
    private static final int MAX_DISPLAY_NAME = 2 * 256;
    private static final int MAX_REQUEST_ID = 32;
    private static final int MAX_DIGITS = 18;
    // As the supervisor takes them in hello.
    private static final Pattern KIND = Pattern.compile("[a-z][a-z0-9_]{0,62}");
    private static final JsonMapper JSON = JsonMapper.shared();

    private InboundFrames() {}

    /** One message. */
    public static Inbound decode(List<byte[]> frames) {
        if (frames.isEmpty() || frames.getFirst().length != 1) {
            return new Inbound.Malformed("no frame letter");
        }
        return switch (frames.getFirst()[0]) {
            case 'R' -> reply(frames);
            case 'O' -> output(frames);
            case 'E' -> event(frames);
            case 'T' -> call(frames);
            case 'X' -> withdrawal(frames);
            default -> new Inbound.Malformed("unknown frame letter");
        };
    }

    private static Inbound reply(List<byte[]> frames) {
        if (frames.size() < 3 || frames.size() > 4) {
            return new Inbound.Malformed("a reply has 3 or 4 frames");
        }
        String id = token(frames.get(1), MAX_REQUEST_ID);
        JsonNode json = object(frames.get(2));
        byte[] blob = frames.size() == 4 ? frames.get(3) : new byte[0];
        if (id == null || json == null || blob.length > MAX_BLOB) {
            return new Inbound.Malformed("bad reply");
        }
        JsonNode error = json.get("error");
        if (error != null && error.isObject()) {
            return new Inbound.Refusal(
                    id,
                    WholeTexts.beginning(error.path("code").asString("internal"), MAX_NAME),
                    WholeTexts.beginning(error.path("message").asString(""), MAX_WORDS));
        }
        return new Inbound.Reply(id, json, Blob.of(blob));
    }

    private static Inbound event(List<byte[]> frames) {
        if (frames.size() != 4) {
            return new Inbound.Malformed("an event has 4 frames");
        }
        String kernel = token(frames.get(1), MAX_ID);
        long seq = number(frames.get(2));
        JsonNode json = object(frames.get(3));
        if (kernel == null || seq < 0 || json == null) {
            return new Inbound.Malformed("bad event");
        }
        return new Inbound.Event(
                kernel, seq, WholeTexts.beginning(json.path("event").asString(""), MAX_NAME));
    }

    private static Inbound call(List<byte[]> frames) {
        if (frames.size() < 3 || frames.size() > 4) {
            return new Inbound.Malformed("a call has 3 or 4 frames");
        }
        String id = token(frames.get(1), MAX_REQUEST_ID);
        JsonNode json = object(frames.get(2));
        byte[] blob = frames.size() == 4 ? frames.get(3) : new byte[0];
        if (id == null || json == null || blob.length > MAX_BLOB) {
            return new Inbound.Malformed("bad call");
        }
        String kind = json.path("kind").asString("");
        String executionId = json.path("execution_id").asString("");
        if (!KIND.matcher(kind).matches()
                || token(executionId.getBytes(StandardCharsets.UTF_8), MAX_ID) == null
                || !(json.path("arguments") instanceof ObjectNode arguments)) {
            return new Inbound.Malformed("bad content of a call");
        }
        return new Inbound.Call(id, kind, executionId, arguments, Blob.of(blob));
    }

    private static Inbound withdrawal(List<byte[]> frames) {
        String id = frames.size() == 2 ? token(frames.get(1), MAX_REQUEST_ID) : null;
        return id == null ? new Inbound.Malformed("a withdrawal has a call's id") : new Inbound.Withdrawal(id);
    }

    private static Inbound output(List<byte[]> frames) {
        if (frames.size() != MAX_FRAMES) {
            return new Inbound.Malformed("an output record has 6 frames");
        }
        String id = token(frames.get(1), MAX_ID);
        long offset = number(frames.get(2));
        String kind = token(frames.get(3), MAX_REQUEST_ID);
        byte[] blob = frames.get(5);
        if (id == null || offset < 0 || kind == null || blob.length > MAX_BLOB) {
            return new Inbound.Malformed("bad output record");
        }
        OutputRecord record = record(kind, offset, frames.get(4), blob);
        return record == null
                ? new Inbound.Malformed("bad content of an output record")
                : new Inbound.Output(id, record);
    }

    private static @Nullable OutputRecord record(String kind, long offset, byte[] json, byte[] blob) {
        return switch (kind) {
            // The frequent kinds first, and without a look at their json, which says nothing.
            case "stdout" -> new OutputRecord.Text(offset, Stream.STDOUT, Blob.of(blob));
            case "stderr" -> new OutputRecord.Text(offset, Stream.STDERR, Blob.of(blob));
            case "result" -> shown(offset, true, object(json), blob);
            case "display" -> shown(offset, false, object(json), blob);
            case "error" -> raised(offset, object(json), blob);
            case "gap" -> gap(offset, object(json));
            case "outcome" -> outcome(offset, object(json));
            default -> null;
        };
    }

    private static @Nullable OutputRecord shown(long offset, boolean result, @Nullable JsonNode json, byte[] blob) {
        if (json == null) {
            return null;
        }
        JsonNode clear = json.path("clear");
        if (clear.isObject() && blob.length == 0) {
            return new OutputRecord.Cleared(offset, clear.path("wait").asBoolean(false));
        }
        return new OutputRecord.Shown(
                offset,
                result,
                WholeTexts.beginning(json.path("mime").asString("text/plain"), MAX_NAME),
                Blob.of(blob),
                original(json.path("original")),
                display(json.path("display")));
    }

    private static OutputRecord.@Nullable Display display(JsonNode json) {
        String id = json.path("id").asString("");
        return id.isEmpty() || id.length() > MAX_DISPLAY_NAME
                ? null
                : new OutputRecord.Display(id, json.path("update").asBoolean(false));
    }

    private static OutputRecord.@Nullable Original original(JsonNode json) {
        if (!json.isObject()) {
            return null;
        }
        String path = json.path("path").asString("");
        boolean sound =
                !path.isEmpty() && path.length() <= MAX_PATH && path.chars().noneMatch(Character::isISOControl);
        return new OutputRecord.Original(
                sound ? path : null,
                Math.max(0, json.path("bytes").asLong(0)),
                Math.max(0, json.path("width").asInt(0)),
                Math.max(0, json.path("height").asInt(0)));
    }

    private static @Nullable OutputRecord raised(long offset, @Nullable JsonNode json, byte[] blob) {
        return json == null
                ? null
                : new OutputRecord.Raised(
                        offset,
                        WholeTexts.beginning(json.path("name").asString("Error"), MAX_NAME),
                        WholeTexts.beginning(json.path("message").asString(""), MAX_WORDS),
                        Blob.of(blob));
    }

    private static @Nullable OutputRecord gap(long offset, @Nullable JsonNode json) {
        long end = json == null ? -1 : json.path("to").asLong(-1);
        return end < offset ? null : new OutputRecord.Gap(offset, end);
    }

    private static @Nullable OutputRecord outcome(long offset, @Nullable JsonNode json) {
        return json == null ? null : OutputRecord.Outcome.parse(offset, json);
    }

    private static @Nullable JsonNode object(byte[] frame) {
        if (frame.length > MAX_JSON) {
            return null;
        }
        try {
            JsonNode node = JSON.readTree(frame);
            return node instanceof ObjectNode object ? WholeTexts.of(object, frame) : null;
        } catch (JacksonException notJson) {
            return null;
        }
    }

    private static @Nullable String token(byte[] frame, int limit) {
        if (frame.length == 0 || frame.length > limit) {
            return null;
        }
        for (byte b : frame) {
            if (b < 0x21 || b > 0x7e) {
                return null;
            }
        }
        return new String(frame, StandardCharsets.US_ASCII);
    }

    /** The decimal number in a frame, or -1 if it is none. */
    private static long number(byte[] frame) {
        if (frame.length == 0 || frame.length > MAX_DIGITS) {
            return -1;
        }
        long value = 0;
        for (byte b : frame) {
            if (b < '0' || b > '9') {
                return -1;
            }
            value = value * 10 + (b - '0');
        }
        return value;
    }
}
