package dev.sandglass.gateway.output;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Turns a stream's pieces of UTF-8 into text: a code point that is cut by the end of a piece is completed by the next one.
 * Bytes that are no UTF-8 become U+FFFD.
 */
public final class Utf8Stream {

    private static final int CONTINUATION_MASK = 0xC0;
    private static final int CONTINUATION = 0x80;
    private static final int LONGEST = 4;

    private byte[] rest = new byte[0];

    /** The text up to the last whole code point. */
    String decode(byte[] piece) {
        byte[] bytes = rest.length == 0 ? piece : concat(rest, piece);
        int whole = bytes.length - unfinished(bytes);
        rest = whole == bytes.length ? new byte[0] : Arrays.copyOfRange(bytes, whole, bytes.length);
        return new String(bytes, 0, whole, StandardCharsets.UTF_8);
    }

    /** How many bytes wait for the rest of their code point: 0 to 3. */
    int pending() {
        return rest.length;
    }

    /** What was cut short by the end of the stream. */
    String finish() {
        String text = new String(rest, StandardCharsets.UTF_8);
        rest = new byte[0];
        return text;
    }

    /** How many bytes a text takes in UTF-8. */
    static long length(CharSequence text, int from, int to) {
        long length = 0;
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                length++;
            } else if (c < 0x800 || Character.isSurrogate(c)) {
                // A surrogate is half of a code point of 4 bytes.
                length += 2;
            } else {
                length += 3;
            }
        }
        return length;
    }

    /** Where the code point begins that covers a byte; the length if the index is behind the end. */
    public static int codePointStart(byte[] bytes, long index) {
        int start = (int) Math.min(index, bytes.length);
        while (start > 0 && start < bytes.length && (bytes[start] & CONTINUATION_MASK) == CONTINUATION) {
            start--;
        }
        return start;
    }

    private static int unfinished(byte[] bytes) {
        for (int back = 1; back <= Math.min(LONGEST - 1, bytes.length); back++) {
            int b = bytes[bytes.length - back] & 0xFF;
            if ((b & CONTINUATION_MASK) != CONTINUATION) {
                return needed(b) > back ? back : 0;
            }
        }
        return 0;
    }

    private static int needed(int lead) {
        if (lead >= 0xF0 && lead <= 0xF4) {
            return 4;
        }
        if (lead >= 0xE0 && lead < 0xF0) {
            return 3;
        }
        return lead >= 0xC2 && lead < 0xE0 ? 2 : 1;
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
