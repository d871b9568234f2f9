package dev.sandglass.api.watch;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Rewrites a stream of JSON in UTF-8, which comes in chunks, as the same JSON in ASCII: each other character becomes
 * {@code \}{@code uXXXX}, which JSON allows wherever such a character may stand. A character that two chunks share becomes part of
 * the second one's. One instance for each stream; not thread-safe.
 */
final class AsciiJson {

    private static final int ESCAPE = 6;
    private static final int LONGEST_PART = 3;
    private static final HexFormat HEX = HexFormat.of();

    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /** The beginning of a character whose rest has not come yet. */
    private ByteBuffer begun = ByteBuffer.allocate(0);

    /** The chunk in ASCII, with what the chunk before it left over; the given buffer is not changed. */
    ByteBuffer escape(ByteBuffer chunk) {
        if (!begun.hasRemaining() && isAscii(chunk)) {
            return chunk.duplicate();
        }
        ByteBuffer bytes = ByteBuffer.allocate(begun.remaining() + chunk.remaining())
                .put(begun)
                .put(chunk.duplicate())
                .flip();
        CharBuffer text = CharBuffer.allocate(bytes.remaining());
        decoder.reset().decode(bytes, text, false);
        if (bytes.remaining() > LONGEST_PART) {
            throw new IllegalStateException(bytes.remaining() + " bytes are left of a chunk");
        }
        begun = ByteBuffer.allocate(bytes.remaining()).put(bytes).flip();
        return ascii(text.flip());
    }

    private static boolean isAscii(ByteBuffer chunk) {
        for (int at = chunk.position(); at < chunk.limit(); at++) {
            if (chunk.get(at) < 0) {
                return false;
            }
        }
        return true;
    }

    private static ByteBuffer ascii(CharBuffer text) {
        int others = (int) text.chars().filter(letter -> letter >= 0x80).count();
        ByteBuffer ascii = ByteBuffer.allocate(text.remaining() + others * (ESCAPE - 1));
        while (text.hasRemaining()) {
            char letter = text.get();
            if (letter < 0x80) {
                ascii.put((byte) letter);
            } else {
                ascii.put(("\\u" + HEX.toHexDigits(letter)).getBytes(StandardCharsets.US_ASCII));
            }
        }
        return ascii.flip();
    }
}
