package dev.sandglass.gateway.link.frame;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Bytes that nobody changes any more. Wraps without copying, because most of them are output that is passed on once; who
 * hands an array in must not write to it again. The text form shows the size alone.
 */
public final class Blob {

    /** No bytes. */
    public static final Blob EMPTY = new Blob(new byte[0]);

    private final byte[] bytes;

    private Blob(byte[] bytes) {
        this.bytes = bytes;
    }

    /** Takes over an array. */
    public static Blob of(byte[] bytes) {
        return bytes.length == 0 ? EMPTY : new Blob(bytes);
    }

    /** The UTF-8 form of a text. */
    public static Blob utf8(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The array itself, for reading. */
    public byte[] bytes() {
        return bytes;
    }

    /** How many bytes there are. */
    public int length() {
        return bytes.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Blob blob && Arrays.equals(bytes, blob.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "Blob[" + bytes.length + " bytes]";
    }
}
