package dev.sandglass.gateway.mcp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The characters besides CR and LF at which some readers end a line: U+0085, U+2028 and U+2029. JSON may hold them as they are,
 * and such a reader of server-sent events then gets half an answer. Pure.
 */
final class LineSeparators {

    private static final byte[] NEXT_LINE = ascii("\\u0085");
    private static final byte[] LINE = ascii("\\u2028");
    private static final byte[] PARAGRAPH = ascii("\\u2029");

    private LineSeparators() {}

    /** The same JSON, in UTF-8, with escapes in their place: they stand in texts alone. */
    static byte[] escaped(byte[] json) {
        int found = 0;
        for (int i = 0; i < json.length; i++) {
            found += json[i] < 0 && escape(json, i) != null ? 1 : 0;
        }
        if (found == 0) {
            return json;
        }
        ByteBuffer escaped = ByteBuffer.allocate(json.length + found * (NEXT_LINE.length - 2));
        for (int i = 0; i < json.length; i++) {
            byte[] escape = json[i] < 0 ? escape(json, i) : null;
            if (escape == null) {
                escaped.put(json[i]);
            } else {
                escaped.put(escape);
                i += escape == NEXT_LINE ? 1 : 2;
            }
        }
        return Arrays.copyOf(escaped.array(), escaped.position());
    }

    /** What is to stand in the place of the character that begins there; null if it is another. */
    private static byte @Nullable [] escape(byte[] json, int at) {
        return switch (json[at] & 0xff) {
            case 0xc2 -> next(json, at + 1) == 0x85 ? NEXT_LINE : null;
            case 0xe2 ->
                next(json, at + 1) == 0x80
                        ? (switch (next(json, at + 2)) {
                            case 0xa8 -> LINE;
                            case 0xa9 -> PARAGRAPH;
                            default -> null;
                        })
                        : null;
            default -> null;
        };
    }

    private static int next(byte[] json, int at) {
        return at < json.length ? json[at] & 0xff : -1;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
