package dev.sandglass.gateway.output;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Width and height of a picture as its first bytes say them, whatever these are: of a PNG (W3C PNG, 11.2.1), a JPEG (ITU
 * T.81, B.1.1 and B.2.2), a GIF (GIF89a, 18) or a WebP (RFC 9649, 2.5 to 2.7 and 3.4; of lossy ones RFC 6386, 9.1). Decodes
 * nothing. Pure.
 *
 * @param width in pixels, at least 1
 * @param height in pixels, at least 1
 */
public record PictureSides(long width, long height) {

    private static final String PNG = "\u0089PNG\r\n\u001a\n";
    private static final int CHUNK_AT = 12;
    private static final int CHUNK_CONTENT_AT = 20;

    private static final int BYTE = 0xff;
    private static final int MOST_OF_14_BITS = 0x3fff;

    /** Empty if it is none of these, is cut off before its sides, or says that one is 0, which no decoder takes. */
    public static Optional<PictureSides> of(byte[] bytes) {
        PictureSides said = null;
        if (has(bytes, 0, PNG)) {
            said = png(bytes);
        } else if (has(bytes, 0, "\u00ff\u00d8\u00ff")) {
            said = jpeg(bytes);
        } else if (has(bytes, 0, "GIF87a") || has(bytes, 0, "GIF89a")) {
            said = gif(bytes);
        } else if (has(bytes, 0, "RIFF") && has(bytes, 8, "WEBP")) {
            said = webp(bytes);
        }
        return Optional.ofNullable(said).filter(sides -> sides.width > 0 && sides.height > 0);
    }

    public long longer() {
        return Math.max(width, height);
    }

    private static @Nullable PictureSides png(byte[] bytes) {
        if (bytes.length < 24 || !has(bytes, CHUNK_AT, "IHDR")) {
            return null;
        }
        ByteBuffer head = ByteBuffer.wrap(bytes);
        return new PictureSides(Integer.toUnsignedLong(head.getInt(16)), Integer.toUnsignedLong(head.getInt(20)));
    }

    /** A preview has sides of its own, but stands within a segment, which is passed over. */
    private static @Nullable PictureSides jpeg(byte[] bytes) {
        ByteBuffer head = ByteBuffer.wrap(bytes);
        int at = 2;
        while (at + 1 < bytes.length) {
            int marker = bytes[at + 1] & BYTE;
            if ((bytes[at] & BYTE) != BYTE || marker == BYTE || marker == 0) {
                // Fill bytes, or what decoders pass over as well.
                at++;
            } else if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
                at += 2;
            } else if (marker == 0xd9 || marker == 0xda || at + 3 >= bytes.length) {
                return null;
            } else if (isFrame(marker)) {
                return at + 8 < bytes.length ? new PictureSides(unsigned(head, at + 7), unsigned(head, at + 5)) : null;
            } else {
                at += 2 + Math.max(2, unsigned(head, at + 2));
            }
        }
        return null;
    }

    /** SOF0 to SOF15; between them are the markers of tables (DHT, DAC) and one without meaning (JPG). */
    private static boolean isFrame(int marker) {
        return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    }

    private static @Nullable PictureSides gif(byte[] bytes) {
        if (bytes.length < 10) {
            return null;
        }
        ByteBuffer head = little(bytes);
        return new PictureSides(unsigned(head, 6), unsigned(head, 8));
    }

    private static @Nullable PictureSides webp(byte[] bytes) {
        ByteBuffer head = little(bytes);
        if (has(bytes, CHUNK_AT, "VP8 ") && has(bytes, CHUNK_CONTENT_AT + 3, "\u009d\u0001*")) {
            return bytes.length < 30
                    ? null
                    : new PictureSides(unsigned(head, 26) & MOST_OF_14_BITS, unsigned(head, 28) & MOST_OF_14_BITS);
        }
        if (has(bytes, CHUNK_AT, "VP8L") && has(bytes, CHUNK_CONTENT_AT, "/") && bytes.length >= 25) {
            int sides = head.getInt(21);
            return new PictureSides(1 + (sides & MOST_OF_14_BITS), 1 + ((sides >>> 14) & MOST_OF_14_BITS));
        }
        return has(bytes, CHUNK_AT, "VP8X") && bytes.length >= 30
                ? new PictureSides(1 + lessOne(head, 24), 1 + lessOne(head, 27))
                : null;
    }

    /** Of 24 bits. */
    private static long lessOne(ByteBuffer head, int at) {
        return unsigned(head, at) | ((head.get(at + 2) & BYTE) << 16);
    }

    private static int unsigned(ByteBuffer head, int at) {
        return Short.toUnsignedInt(head.getShort(at));
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static boolean has(byte[] bytes, int at, String latin) {
        byte[] wanted = latin.getBytes(StandardCharsets.ISO_8859_1);
        return bytes.length >= at + wanted.length
                && Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length);
    }
}
