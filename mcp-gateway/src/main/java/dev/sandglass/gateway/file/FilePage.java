package dev.sandglass.gateway.file;

import dev.sandglass.gateway.link.frame.Blob;
import dev.sandglass.gateway.output.PictureSides;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.OptionalLong;

/** A part of a file, as bytes, text or picture. Pure. */
public final class FilePage {

    private static final int CONTINUATION_MASK = 0xC0;
    private static final int CONTINUATION = 0x80;
    private static final int MOST_CONTINUATIONS = 3;
    private static final int RIFF_KIND_AT = 8;
    private static final String PNG = "\u0089PNG\r\n\u001a\n";

    private final long offset;
    private final long size;
    private final byte[] bytes;

    private FilePage(long offset, long size, byte[] bytes) {
        this.offset = offset;
        this.size = size;
        this.bytes = bytes;
    }

    /**
     * What was read.
     *
     * @param offset of the first byte in the file
     * @param size of the whole file in bytes
     */
    static FilePage of(long offset, long size, Blob content) {
        return new FilePage(offset, Math.max(size, offset + content.length()), content.bytes());
    }

    /** Where it begins in the file, in bytes. */
    public long offset() {
        return offset;
    }

    /** Size of the whole file in bytes. */
    public long size() {
        return size;
    }

    /** Behind its last byte. */
    public long end() {
        return offset + bytes.length;
    }

    /** Its bytes, not to be changed. */
    public byte[] bytes() {
        return bytes;
    }

    /** Its bytes in base64 (RFC 4648, padded). */
    public String base64() {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** Whether it is the whole file. */
    public boolean isWhole() {
        return offset == 0 && end() == size;
    }

    /** The kind of picture whose first bytes these are, e.g. {@code image/png}. */
    public Optional<String> pictureType() {
        if (offset != 0) {
            return Optional.empty();
        }
        if (has(0, PNG)) {
            return Optional.of("image/png");
        }
        if (has(0, "\u00ff\u00d8\u00ff")) {
            return Optional.of("image/jpeg");
        }
        if (has(0, "GIF87a") || has(0, "GIF89a")) {
            return Optional.of("image/gif");
        }
        return has(0, "RIFF") && has(RIFF_KIND_AT, "WEBP") ? Optional.of("image/webp") : Optional.empty();
    }

    /** Whether a PDF document begins here. */
    public boolean isPdf() {
        return offset == 0 && has(0, "%PDF-");
    }

    /** The longer side in pixels of the picture that begins here; empty if it is none, or does not say. */
    public OptionalLong longerSide() {
        return offset == 0
                ? PictureSides.of(bytes).stream()
                        .mapToLong(PictureSides::longer)
                        .findFirst()
                : OptionalLong.empty();
    }

    /** Its text up to the last whole character, or why it has none. */
    public Text text() {
        Text text = decode(0);
        int inside = offset == 0 ? 0 : leadingContinuations();
        if (text instanceof Text.None && inside > 0 && decode(inside) instanceof Text.Some) {
            return new Text.Inside(offset + inside);
        }
        return text;
    }

    private Text decode(int from) {
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer in = ByteBuffer.wrap(bytes, from, bytes.length - from);
        CharBuffer out = CharBuffer.allocate(bytes.length - from);
        // Not at the end of the file, the decoder leaves a character that is cut off where it is.
        boolean odd = decoder.decode(in, out, end() == size).isError();
        return odd
                ? new Text.None(offset + in.position())
                : new Text.Some(out.flip().toString(), offset + in.position());
    }

    private int leadingContinuations() {
        int count = 0;
        while (count < Math.min(MOST_CONTINUATIONS, bytes.length)
                && (bytes[count] & CONTINUATION_MASK) == CONTINUATION) {
            count++;
        }
        return count;
    }

    private boolean has(int at, String latin) {
        byte[] wanted = latin.getBytes(StandardCharsets.ISO_8859_1);
        return bytes.length >= at + wanted.length
                && Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length);
    }

    /** What a page is as text. */
    public sealed interface Text {
        /**
         * It is text.
         *
         * @param text whole characters
         * @param end behind the last of them, in bytes of the file
         */
        record Some(String text, long end) implements Text {}

        /**
         * It begins inside a character.
         *
         * @param next where the next one begins
         */
        record Inside(long next) implements Text {}

        /**
         * It is not UTF-8.
         *
         * @param at the first byte that is not
         */
        record None(long at) implements Text {}
    }

    /** Says where and how much. */
    @Override
    public String toString() {
        return "FilePage[" + offset + ", " + bytes.length + " of " + size + " bytes]";
    }
}
