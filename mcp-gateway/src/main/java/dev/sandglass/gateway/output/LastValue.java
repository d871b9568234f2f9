package dev.sandglass.gateway.output;

import dev.sandglass.gateway.link.frame.OutputRecord;
import dev.sandglass.gateway.link.frame.OutputRecord.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The value of the last expression as text, and as data if it was displayed as JSON. Pure; one thread at a time. */
final class LastValue {

    private static final String JSON = "application/json";

    // About what a value takes once it is read, and what its name takes in an object: a text of [] is thirty times as
    // much.
    private static final long NODE_BYTES = 48;
    private static final long NAME_BYTES = 96;

    private final CappedText texts;
    private final AnswerShare share;
    private boolean isThere;
    private boolean begun;
    private @Nullable JsonNode data;
    private long dataBytes;

    LastValue(CappedText texts, AnswerShare share) {
        this.texts = texts;
        this.share = share;
    }

    /** Takes a value. More than one comes only if the code asked for it (ast_node_interactivity). */
    void add(OutputRecord.Shown shown, RecordPart part) {
        if (begun) {
            texts.endLine(Stream.STDOUT, part.offset());
        }
        texts.append(Stream.STDOUT, part.text(), part.offset());
        isThere = true;
        begun |= !part.text().isEmpty();
        boolean whole = part.offset() == shown.offset() && texts.cutOffset() == CappedText.NOTHING_CUT;
        keep(whole && shown.mime().equals(JSON) ? parsed(part.text()) : null);
    }

    private void keep(@Nullable JsonNode newest) {
        long bytes = newest == null ? 0 : bytes(newest);
        boolean taken = share.change(bytes - dataBytes);
        if (!taken) {
            share.change(-dataBytes);
        }
        data = taken ? newest : null;
        dataBytes = taken ? bytes : 0;
    }

    private static long bytes(JsonNode node) {
        long bytes = NODE_BYTES
                + (node.isString()
                        ? node.asString().length()
                        : node.propertyNames().size() * NAME_BYTES);
        for (JsonNode each : node.values()) {
            bytes += bytes(each);
        }
        return bytes;
    }

    private static @Nullable JsonNode parsed(String json) {
        try {
            return JsonMapper.shared().readTree(json);
        } catch (JacksonException notJson) {
            return null;
        }
    }

    /** As text; null if there is none. */
    @Nullable
    String text() {
        return isThere ? texts.text(Stream.STDOUT) : null;
    }

    /** As data: if the code displayed it as JSON, its text is not cut, and there is room for it. */
    @Nullable
    JsonNode data() {
        return data;
    }

    /** Position of the first byte that was dropped, or {@link CappedText#NOTHING_CUT}. */
    long cutOffset() {
        return texts.cutOffset();
    }

    /** How many characters it holds. */
    int chars() {
        return texts.chars();
    }
}
