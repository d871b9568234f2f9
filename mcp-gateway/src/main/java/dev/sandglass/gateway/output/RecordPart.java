package dev.sandglass.gateway.output;

import dev.sandglass.gateway.link.frame.Blob;
import java.nio.charset.StandardCharsets;

/**
 * What an answer has to tell of a record's text: all of it, or the rest from where the page before ended, as the
 * supervisor gives whole records.
 *
 * @param text begins with a whole code point
 * @param offset position of its first byte in the execution's output
 */
record RecordPart(String text, long offset) {

    /**
     * The part of a record.
     *
     * @param recordOffset where the record begins
     * @param utf8 the record's text
     * @param from where the answer begins
     */
    static RecordPart of(long recordOffset, Blob utf8, long from) {
        byte[] bytes = utf8.bytes();
        int start = Utf8Stream.codePointStart(bytes, Math.max(0, from - recordOffset));
        return new RecordPart(
                new String(bytes, start, bytes.length - start, StandardCharsets.UTF_8), recordOffset + start);
    }

    /** Sizes only. */
    @Override
    public String toString() {
        return "RecordPart[" + text.length() + " characters at " + offset + "]";
    }
}
